"""Two people on one card see that they are not alone; one who leaves is gone within seconds."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.axe import axe_clean
from tests.browser.conftest import listen, live
from tests.desk import Desk, desk_create, parked
from tests.processes import wait_for

Opens = Callable[..., BrowserContext]


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


def test_who_else_looks_at_a_card_is_said_and_unsaid(desk: Desk, signed_in: Opens):
    request, other = parked(desk), parked(desk, arguments={"path": "/scratch/b"})
    desk.silas.first_name, desk.silas.last_name = "Silas", "Marner"
    desk.silas.save()
    hers, seen = signed_in(desk.rhea).new_page(), list[str]()
    listen(hers, seen)
    hers.goto(f"/approvals/{request.pk}/")
    live(hers)
    line = hers.locator(f"#looking-{request.pk}")
    expect(line).to_have_text("")
    hers.locator("textarea").first.fill("half a reason")

    his = signed_in(desk.silas).new_page()
    listen(his, seen)
    his.goto(f"/approvals/{request.pk}/")
    expect(line).to_contain_text("Silas Marner is looking at this card")
    expect(his.locator(f"#looking-{request.pk}")).to_contain_text("rhea is looking at this card")
    expect(hers.locator("#announcer")).to_contain_text("Silas Marner is looking")
    expect(hers.locator("textarea").first).to_have_value("half a reason")
    axe_clean(hers)

    again = his.context.new_page()  # his second tab is nobody else to him
    again.goto(f"/approvals/{request.pk}/")
    live(again)
    expect(again.locator(f"#looking-{request.pk}")).to_have_text(" rhea is looking at this card")
    again.close()
    expect(line).to_contain_text("Silas Marner is looking at this card")

    his.goto(f"/approvals/{other.pk}/")
    expect(line).to_have_text("")
    expect(his.locator(f"#looking-{other.pk}")).to_have_text("")
    assert seen == []


def test_who_else_looks_at_a_card_is_said_beside_the_list_too_and_follows_the_one_that_is_shown(
    desk: Desk, signed_in: Opens
):
    first, second = parked(desk), parked(desk, arguments={"path": "/scratch/b"})
    seen = list[str]()
    hers = signed_in(desk.rhea, viewport={"width": 1280, "height": 800}).new_page()
    his = signed_in(desk.silas, viewport={"width": 1280, "height": 800}).new_page()
    for page in (hers, his):
        listen(page, seen)
        page.goto("/approvals/?shelf=team&open=" + str(first.pk))
        live(page)
    line = "#preview .card-looking"
    expect(hers.locator(line)).to_contain_text("silas is looking at this card")
    expect(his.locator(line)).to_contain_text("rhea is looking at this card")
    expect(hers.locator("#announcer")).to_contain_text("silas is looking")
    axe_clean(hers)

    his.locator(f"[data-open='{second.pk}']").focus()
    expect(his.locator(f"#preview #looking-{second.pk}")).to_have_text("")
    expect(hers.locator(line)).to_have_text("")
    hers.goto(f"/approvals/{second.pk}/")
    expect(his.locator(line)).to_contain_text("rhea is looking at this card")
    hers.keyboard.press("p")  # what comes while it is paused is thrown away, and said again afterwards
    his.goto("/approvals/?shelf=decided")
    his.goto(f"/approvals/{second.pk}/")
    expect(his.locator(f"#looking-{second.pk}")).to_contain_text("rhea is looking")
    hers.keyboard.press("p")
    expect(hers.locator(f"#looking-{second.pk}")).to_contain_text("silas is looking at this card")
    assert seen == []


def test_on_a_narrow_screen_the_list_shows_no_card_so_nobody_is_said_to_look(desk: Desk, signed_in: Opens):
    request = parked(desk)
    hers, his = (
        signed_in(desk.rhea).new_page(),
        signed_in(desk.silas, viewport={"width": 360, "height": 740}).new_page(),
    )
    hers.goto(f"/approvals/{request.pk}/")
    live(hers)
    his.goto("/approvals/?shelf=team")
    live(his)
    his.goto(f"/approvals/{request.pk}/")
    line = hers.locator(f"#looking-{request.pk}")
    expect(line).to_contain_text("silas is looking")
    his.goto("/approvals/?shelf=team")
    live(his)
    expect(line).to_have_text("")


def test_without_scripts_the_card_is_whole_and_says_who_had_it_open_as_it_was_made(desk: Desk, signed_in: Opens):
    request = parked(desk)
    page, line = signed_in(desk.rhea, java_script_enabled=False).new_page(), f"#looking-{request.pk}"
    page.goto(f"/approvals/{request.pk}/")
    expect(page.get_by_role("button", name="Approve").first).to_be_visible()
    expect(page.locator(line)).to_have_text("")
    his = signed_in(desk.silas).new_page()
    his.goto(f"/approvals/{request.pk}/")
    live(his)
    wait_for(lambda: page.reload() and "silas is looking at this card" in page.locator(line).inner_text())

"""Who looks at a card is said only to those who may read it, and the desk may name any card it shows."""

import json
from contextlib import suppress

from websockets.sync.client import ClientConnection

from approvals_app.models import ApprovalRequest
from core.models import Membership
from tests.desk import Desk, parked
from tests.integration.live.conftest import Live, Page, session_of


def desk_page(live: Live, user: object) -> Page:
    cookie = session_of(user)  # type: ignore[arg-type]
    page = Page(lambda: live.socket("/ws/approvals/?tab=team", cookie=cookie), 0)
    page.connect()
    page.until_head()
    return page


def look(page: Page, approval: object) -> None:
    assert isinstance(page.socket, ClientConnection)
    page.socket.send(json.dumps({"type": "looking", "approval": str(approval)}))


def told(page: Page, request: ApprovalRequest, text: str) -> None:
    while f'id="looking-{request.pk}"' not in page.html or text not in page.html:
        page.take(10.0)


def silent(page: Page, seconds: float = 2.0) -> bool:
    page.html = ""
    with suppress(TimeoutError):
        while True:
            page.take(seconds)
    return "looking" not in page.html


def test_two_desks_that_show_one_card_say_so_to_each_other_and_to_no_stranger(live: Live, desk: Desk):
    request = parked(desk)
    hers, his, theirs = (desk_page(live, user) for user in (desk.rhea, desk.silas, desk.tobin))
    look(theirs, request.pk)
    look(hers, request.pk)
    look(his, request.pk)
    told(hers, request, "silas is looking")
    told(his, request, "rhea is looking")
    assert "tobin" not in hers.html + his.html
    assert silent(theirs)


def test_nonsense_is_left_aside_and_the_desk_goes_on(live: Live, desk: Desk):
    request = parked(desk)
    hers, his = desk_page(live, desk.rhea), desk_page(live, desk.silas)
    for nonsense in ("x", None, 7, {"a": 1}, "0" * 900, live.task.pk):
        look(hers, nonsense)
    look(hers, request.pk)
    look(his, request.pk)
    told(hers, request, "silas is looking")


def test_whoever_lost_the_right_to_the_card_is_told_no_more_names(live: Live, desk: Desk):
    request = parked(desk)
    Membership.objects.create(user=desk.vera, workspace=live.people.elsewhere, role="viewer")  # she keeps a desk
    hers = desk_page(live, desk.vera)
    look(hers, request.pk)
    Membership.objects.filter(user=desk.vera, workspace=desk.workspace).delete()
    his = desk_page(live, desk.silas)
    look(his, request.pk)
    assert silent(hers, 3.0)

"""The pages of drills."""

from django.urls import path

from chaos_app.views.case import case_file, case_page, trend_page
from chaos_app.views.comparing import compare_page
from chaos_app.views.guided import first_page, guided_do, guided_page, guided_parts
from chaos_app.views.launch import launch_page, switch
from chaos_app.views.pin import pin
from chaos_app.views.runs import alert_end, drills_page, run_file, run_page, run_stop
from chaos_app.views.schedules import schedule_removed, schedules_page
from chaos_app.views.tools import tools_page
from chaos_app.views.trends import trends_page

urlpatterns = [
    path("", drills_page, name="drills"),
    path("launch/", launch_page, name="drill-launch"),
    path("first/", first_page, name="drill-first"),
    path("first/<uuid:run>/", guided_page, name="drill-guided"),
    path("first/<uuid:run>/parts/", guided_parts, name="drill-guided-parts"),
    path("first/<uuid:run>/do/", guided_do, name="drill-guided-do"),
    path("switch/", switch, name="drill-switch"),
    path("pin/<uuid:task>/<int:seq>/", pin, name="drill-pin"),
    path("schedules/", schedules_page, name="drill-schedules"),
    path("schedules/<int:schedule>/remove/", schedule_removed, name="drill-schedule-remove"),
    path("tools/", tools_page, name="drill-tools"),
    path("trend/", trends_page, name="drill-trends"),
    path("trend/<str:cell>/", trend_page, name="drill-trend"),
    path("<uuid:run>/", run_page, name="drill-run"),
    path("<uuid:run>/compare/", compare_page, name="drill-compare"),
    path("<uuid:run>/stop/", run_stop, name="drill-stop"),
    path("<uuid:run>/seen/", alert_end, name="drill-alert-seen"),
    path("<uuid:run>/download/<slug:form>/", run_file, name="drill-file"),
    path("<uuid:run>/cases/<int:case>/", case_page, name="drill-case"),
    path("<uuid:run>/cases/<int:case>/evidence/", case_file, name="drill-evidence"),
]

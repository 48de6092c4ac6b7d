"""The pages of tasks."""

from django.urls import path

from tasks_app import call_names as call_names  # what <call_name:> is in an address
from tasks_app.views.act import task_act
from tasks_app.views.kept import kept_file, record_file
from tasks_app.views.listing import task_list_live, task_list_page
from tasks_app.views.live import task_live
from tasks_app.views.repeat import call_repeat_page
from tasks_app.views.saved_views import saved_view_add, saved_view_forget
from tasks_app.views.settle import call_doubt, call_live, call_look_up_page, call_settle_page
from tasks_app.views.start import task_start
from tasks_app.views.task import task_page
from tasks_app.views.together import tasks_together

urlpatterns = [
    path("", task_list_page, name="tasks"),
    path("live/", task_list_live, name="tasks-live"),
    path("start/", task_start, name="task-start"),
    path("together/", tasks_together, name="tasks-together"),
    path("views/", saved_view_add, name="saved-view-add"),
    path("views/<int:view>/forget/", saved_view_forget, name="saved-view-forget"),
    path("<uuid:task>/", task_page, name="task"),
    path("<uuid:task>/live/", task_live, name="task-live"),
    path("<uuid:task>/blobs/<str:sha256>/", kept_file, name="task-blob"),
    path("<uuid:task>/export/", record_file, name="task-export"),
    path("<uuid:task>/doubts/<int:call>/", call_doubt, name="call-doubt"),
    path("<uuid:task>/calls/<call_name:name>/settle/", call_settle_page, name="call-settle"),
    path("<uuid:task>/calls/<call_name:name>/live/", call_live, name="call-live"),
    path("<uuid:task>/calls/<call_name:name>/look-up/", call_look_up_page, name="call-look-up"),
    path("<uuid:task>/calls/<call_name:name>/allow-repeat/", call_repeat_page, name="call-repeat"),
    path("<uuid:task>/do/<slug:action>/", task_act, name="task-act"),
]

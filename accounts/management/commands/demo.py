from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from accounts import demo


class Command(BaseCommand):
    help = (
        "Prepare an empty installation for a first look: an organization, two people, a key, sample decisions and "
        "notices. Existing rows stay. Nothing is added to an installation with other organizations."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        organization = demo.prepare()
        if organization is None:
            self.stdout.write(f"\n  Decision-Record Service at {settings.BASE_URL}, with the organizations it has\n")
            return
        key = demo.api_key(organization)
        self.stdout.write(f"""
  Decision-Record Service at {settings.BASE_URL}

    API and its documentation  {settings.BASE_URL}/docs/
    Back office                {settings.BASE_URL}/admin/
    API key of {organization.name}     {key}
    Data                       {settings.DATA_DIR}

  To sign in: open {settings.BASE_URL}/sign-in/ and enter {demo.OWNER} (or {demo.OPERATOR}, who approves).
  The code is in the newest file of {settings.MAIL_DIR}

  A first request:
    curl -H "Authorization: Bearer {key}" "{settings.BASE_URL}/v1/decisions?action=denied"
""")

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0013_stored_pdfs")]

    operations = [
        migrations.AddField(
            "noticesettings",
            "loosenings",
            models.JSONField(default=dict, editable=False, help_text="Guards that will loosen: to what, and when."),
        ),
    ]

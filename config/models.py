from django.db import models


class ChangeMark(models.Model):
    """The mark of the last change of watched rows (see `config.changes`): one row, written by triggers."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    mark = models.CharField(max_length=36, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(only=True), name="one_change_mark")]

    def __str__(self) -> str:
        return self.mark

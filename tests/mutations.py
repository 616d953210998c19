"""Mutations, which check that the suite catches broken rules: `python -m tests.mutations`.

Each mutation breaks one rule in a copy of the tree, and its tests must fail. Run it by hand after changes to the suite:
a suite that tests less would miss some mutations.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent


class Mutation(NamedTuple):
    rule: str
    file: str
    before: str
    after: str
    tests: str


MUTATIONS = [
    Mutation(
        "a role may do what the matrix allows, and no more",
        "accounts/roles.py",
        "Permission.MANAGE_KEYS: _ADMINISTRATION",
        "Permission.MANAGE_KEYS: _EVERYONE",
        "tests/accounts/test_roles.py tests/accounts/test_contract.py",
    ),
    Mutation(
        "a sender's key only sends records",
        "accounts/roles.py",
        "role for role in Role if role is not Role.SENDER",
        "role for role in Role",
        "tests/accounts/test_roles.py tests/accounts/test_keys.py",
    ),
    Mutation(
        "a key gets no more permissions than its creator has",
        "accounts/roles.py",
        "permissions(given) <= permissions(giver)",
        "bool(permissions(given))",
        "tests/accounts/test_keys.py",
    ),
    Mutation(
        "a key creates no key that outlives it",
        "accounts/services/lineage.py",
        "if asked and limit and asked > limit:",
        "if False:",
        "tests/accounts/test_lineage.py",
    ),
    Mutation(
        "revoking a key revokes the keys and invitations that it created",
        "accounts/services/keys.py",
        "keys=made.keys, invites=made.invites, with_key",
        "with_key",
        "tests/accounts/test_lineage.py",
    ),
    Mutation(
        "a caller gives only roles within their own permissions",
        "accounts/services/members.py",
        "if not all(may_give(",
        "if False and not all(may_give(",
        "tests/accounts/test_lineage.py",
    ),
    Mutation(
        "a person with a second factor joins only with it",
        "accounts/services/sign_in.py",
        "if verified.invite and not (user and second_factor.is_needed(user)):",
        "if verified.invite:",
        "tests/access/test_invitation_codes.py",
    ),
    Mutation(
        "the session of a new person reaches one organization",
        "accounts/services/sign_in.py",
        "only=is_new)",
        "only=False)",
        "tests/access/test_invitation_codes.py",
    ),
    Mutation(
        "a service checks its caller's role itself",
        "accounts/authority.py",
        "if not roles.allows(caller.role, permission):",
        "if False:",
        "tests/accounts/test_authority.py",
    ),
    Mutation(
        "a caller without a required second factor changes nothing",
        "accounts/authority.py",
        "    if caller.owes_second_factor:",
        "    if False:",
        "tests/accounts/test_authority.py",
    ),
    Mutation(
        "a service refuses another organization's objects",
        "accounts/authority.py",
        "            raise NotFound",
        "            pass",
        "tests/accounts/test_authority.py",
    ),
    Mutation(
        "rows are reached through their organization",
        "config/tenancy.py",
        "return self.filter(**{self.organization_path: ",
        "return self.exclude(pk=None) or self.filter(**{self.organization_path: ",
        "tests/accounts/test_isolation.py",
    ),
    Mutation(
        "authors do not approve their own notice",
        "notices/services/approval_rules.py",
        "if is_caller or (root and",
        "if False and (root and",
        "tests/notices/test_four_eyes.py",
    ),
    Mutation(
        "a key's claim does not name an author of the notice",
        "notices/services/approval_rules.py",
        "if contributor.mail and _names(approver, contributor.mail):",
        "if False:",
        "tests/notices/test_four_eyes.py tests/notices/test_known_writers.py",
    ),
    Mutation(
        "a grant ends when it says",
        "notices/services/approval_rules.py",
        "grant.valid_to is None or today <= grant.valid_to",
        "True",
        "tests/notices/test_grants.py",
    ),
    Mutation(
        "a member who left and rejoined does not get old grants back",
        "notices/services/approval_rules.py",
        "created_at__gte=member.created_at",
        "created_at__isnull=False",
        "tests/notices/test_grants.py",
    ),
    Mutation(
        "a statement is not read before its signature verifies",
        "custody/sealing/statements.py",
        "if not signers.verifies(",
        "if False and not signers.verifies(",
        "tests/custody/test_forged_statements.py",
    ),
    Mutation(
        "a row agrees with its statement",
        "custody/sealing/statements.py",
        "if (claims.kind, claims.received_at) != (entry.kind, entry.received_at):",
        "if False:",
        "tests/custody/test_forged_statements.py",
    ),
    Mutation(
        "only its holder completes a lease",
        "config/leases.py",
        ".filter(pk=row.pk, lease_token=row.lease_token)",
        ".filter(pk=row.pk)",
        "tests/config/test_leases.py",
    ),
    Mutation(
        "a leased row is not claimed again",
        "config/leases.py",
        "return Q(lease_until=None) | Q(lease_until__lt=timezone.now())",
        "return Q()",
        "tests/config/test_leases.py",
    ),
    Mutation(
        "the copy in the database is deleted only when the vault has the same bytes",
        "custody/objects.py",
        " or vault.get(key) == body",
        " or True",
        "tests/custody/test_only_copy.py tests/custody/test_vault_faults.py",
    ),
    Mutation(
        "a customer's key signs only records that we queued",
        "custody/sealing/statements.py",
        "    if not keyring(organization_id).queue_signer.recognises(bytes(queued.signature), message):",
        "    if False:",
        "tests/custody/queue/test_queued_custody.py",
    ),
    Mutation(
        "a signature of a key management service is verified before it is stored",
        "custody/keys/kms.py",
        "        if not verifies(row.algorithm, row.public_pem, signature, data):",
        "        if False:",
        "tests/custody/clouds/test_key_services.py",
    ),
    Mutation(
        "an object in a bucket is never replaced",
        "custody/clouds/aws/vault.py",
        'IfNoneMatch="*",',
        "",
        "tests/custody/test_vaults.py",
    ),
    Mutation(
        "storage is chosen only after its custody test has succeeded",
        "custody/services/storage.py",
        "    if not test.ok:",
        "    if False:",
        "tests/custody/test_chosen_storage.py",
    ),
    Mutation(
        "days of a deadline end with their last hour",
        "notices/deadlines.py",
        "time(23, 59, 59), UTC",
        "time(0, 0, 0), UTC",
        "tests/notices/test_deadline_arithmetic.py",
    ),
    Mutation(
        "business days exclude public holidays",
        "notices/deadlines.py",
        "last.isoweekday() <= 5 and last not in",
        "last.isoweekday() <= 5 or last not in",
        "tests/notices/test_deadline_arithmetic.py tests/notices/test_days.py",
    ),
    Mutation(
        "a one-time code can be tried five times at most",
        "accounts/services/codes.py",
        "code.used_at or code.tries >= TRIES or",
        "code.used_at or",
        "tests/access/test_codes.py",
    ),
    Mutation(
        "an organization keeps at least one owner",
        "accounts/services/members.py",
        "        raise LastOwner",
        "        pass",
        "tests/access/test_members.py",
    ),
    Mutation(
        "the daily run applies a shorter policy only a week after owners were notified",
        "retention/services/policies.py",
        "days < in_force.days",
        "False",
        "tests/retention/test_policies.py",
    ),
    Mutation(
        "a policy that was replaced before its start does not start",
        "retention/rules.py",
        ".exclude(replaced)",
        "",
        "tests/retention/test_policies.py",
    ),
    Mutation(
        "a law keeps a family longer than the policy",
        "retention/rules.py",
        "longest.days > policy.days",
        "False",
        "tests/retention/test_rules.py",
    ),
    Mutation(
        "a hold by a filter covers a family of which any decision matches",
        "retention/rules.py",
        "roots_of(chains(asked).filter(covered_by",
        "roots_of(chains(asked).filter(first=None).filter(covered_by",
        "tests/retention/test_holds.py",
    ),
    Mutation(
        "an owner confirms exactly the run that they were shown",
        "retention/services/confirmations.py",
        "asking.filter(candidates=candidates, policy=policy.number)",
        "asking",
        "tests/retention/test_confirmations.py",
    ),
]


def copy_of_the_tree(directory: str) -> Path:
    copy = Path(directory) / "tree"
    ignored = shutil.ignore_patterns(".git", ".venv", "var", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(CHECKOUT, copy, ignore=ignored)
    (copy / ".venv").symlink_to(Path(sys.prefix))
    return copy


def is_caught(mutation: Mutation, tree: Path) -> bool:
    """Whether the tests run and fail when the rule is broken."""
    file = tree / mutation.file
    whole = file.read_text()
    if whole.count(mutation.before) != 1:
        sys.exit(f"{mutation.file} must have exactly once: {mutation.before}")
    file.write_text(whole.replace(mutation.before, mutation.after))
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutation.tests.split()]
        done = subprocess.run(command, cwd=tree, stdin=subprocess.DEVNULL, capture_output=True)
    finally:
        file.write_text(whole)
    if done.returncode not in (0, 1):
        sys.exit(f"The tests of “{mutation.rule}” did not run:\n{done.stdout.decode()[-2000:]}")
    return done.returncode == 1


def main() -> int:
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="drs-mutations-") as directory:
        tree = copy_of_the_tree(directory)
        for mutation in MUTATIONS:
            caught = is_caught(mutation, tree)
            survivors += not caught
            print(f"{'caught  ' if caught else 'SURVIVED'}  {mutation.rule}", flush=True)
    print(f"{len(MUTATIONS) - survivors} of {len(MUTATIONS)} caught")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())

"""What calls of well-known tools do, in German."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.known.wordings import of_servers
from sayso.wording.wording import Templates

_COMMAND = Templates("Befehl ausführen")
_CLAUDE = {
    "Bash": _COMMAND,
    "Edit": Templates("{file_path} bearbeiten"),
    "MultiEdit": Templates("{file_path} bearbeiten"),
    "Write": Templates("{file_path} schreiben"),
    "NotebookEdit": Templates("{notebook_path} bearbeiten"),
    "Read": Templates("{file_path} lesen"),
    "WebFetch": Templates("{url} abrufen"),
    "WebSearch": Templates("Im Web suchen nach {query}"),
    "Task": Templates("Unteragenten starten"),
}
_OTHERS = {
    "shell": _COMMAND,
    "run_shell_command": _COMMAND,
    "execute_command": _COMMAND,
    "run_terminal_cmd": _COMMAND,
    "apply_patch": Templates("Dateien ändern"),
    "write_file": Templates("{file_path} schreiben"),
    "replace": Templates("{file_path} bearbeiten"),
    "kubectl_apply": Templates("Manifest anwenden"),
    "kubectl_delete": Templates("{resourceType} {name} löschen"),
    "execute_sql": Templates("SQL ausführen"),
}
_GITHUB = {
    "create_pull_request": Templates("Pull-Request in {owner}/{repo} öffnen", "{title}"),
    "merge_pull_request": Templates("Pull-Request {pullNumber} von {owner}/{repo} mergen"),
    "create_issue": Templates("Issue in {owner}/{repo} öffnen", "{title}"),
    "add_issue_comment": Templates("Issue {issue_number} von {owner}/{repo} kommentieren"),
    "push_files": Templates("Dateien nach {branch} von {owner}/{repo} pushen", "{message}"),
    "create_or_update_file": Templates("{path} in {owner}/{repo} schreiben", "{message}"),
    "delete_file": Templates("{path} in {owner}/{repo} löschen", "{message}"),
    "create_branch": Templates("Branch {branch} in {owner}/{repo} anlegen"),
    "create_repository": Templates("Repository {name} anlegen"),
    "fork_repository": Templates("{owner}/{repo} forken"),
}
_LINEAR = {
    "create_issue": Templates("Linear-Issue anlegen", "{title}"),
    "update_issue": Templates("Linear-Issue {id} ändern"),
    "create_comment": Templates("Linear-Issue {issueId} kommentieren"),
    "create_project": Templates("Linear-Projekt {name} anlegen"),
}
_STRIPE = {
    "create_refund": Templates(
        "Zahlung erstatten",
        facts={"Betrag": "{money(amount, currency)}", "Zahlung": "{payment_intent}"},
    ),
    "create_payment_link": Templates("Zahlungslink anlegen"),
    "create_invoice": Templates("Rechnung für {customer} anlegen"),
    "finalize_invoice": Templates("Rechnung {invoice} abschließen"),
    "cancel_subscription": Templates("Abo {subscription} kündigen"),
    "create_customer": Templates("Kunden {name} anlegen"),
    "create_price": Templates("Preis anlegen", facts={"Betrag": "{money(unit_amount, currency)}"}),
}
GERMAN: Mapping[str, Templates] = {
    **_CLAUDE,
    **_OTHERS,
    **of_servers(github=_GITHUB, linear=_LINEAR, stripe=_STRIPE),
}

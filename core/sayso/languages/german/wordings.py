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
    "issue_write": Templates("Issue in {owner}/{repo} schreiben"),
    "update_pull_request": Templates("Pull-Request {pullNumber} von {owner}/{repo} ändern"),
    "pull_request_review_write": Templates(
        "Pull-Request {pullNumber} von {owner}/{repo} begutachten"
    ),
    "run_workflow": Templates("{workflow_id} von {owner}/{repo} auf {ref} ausführen"),
    "create_gist": Templates("Gist aus {filename} anlegen"),
}
_SLACK = {
    "slack_post_message": Templates("Im Kanal {channel_id} schreiben"),
    "slack_reply_to_thread": Templates("Im Kanal {channel_id} antworten"),
    "conversations_add_message": Templates("Im Kanal {channel_id} schreiben"),
}
_ATLASSIAN = {
    "createJiraIssue": Templates("Jira-Vorgang in {projectKey} anlegen", "{summary}"),
    "editJiraIssue": Templates("Jira-Vorgang {issueIdOrKey} ändern"),
    "transitionJiraIssue": Templates("Jira-Vorgang {issueIdOrKey} verschieben"),
    "addCommentToJiraIssue": Templates("Jira-Vorgang {issueIdOrKey} kommentieren"),
}
_JIRA = {
    "jira_create_issue": Templates("Jira-Vorgang in {project_key} anlegen", "{summary}"),
    "jira_update_issue": Templates("Jira-Vorgang {issue_key} ändern"),
    "jira_transition_issue": Templates("Jira-Vorgang {issue_key} verschieben"),
    "jira_add_comment": Templates("Jira-Vorgang {issue_key} kommentieren"),
    "jira_delete_issue": Templates("Jira-Vorgang {issue_key} löschen"),
}
_KUBERNETES = {
    "kubectl_apply": Templates("Manifest anwenden"),
    "kubectl_delete": Templates("{resourceType} {name} löschen"),
    "kubectl_scale": Templates("{name} auf {replicas} skalieren"),
    "kubectl_rollout": Templates("Rollout ({subCommand}) von {resourceType} {name}"),
    "install_helm_chart": Templates("{chart} als {name} in {namespace} installieren"),
    "upgrade_helm_chart": Templates("{name} in {namespace} mit {chart} aktualisieren"),
    "uninstall_helm_chart": Templates("{name} aus {namespace} entfernen"),
}
_FILES = {
    "write_file": Templates("{path} schreiben"),
    "edit_file": Templates("{path} bearbeiten"),
    "create_directory": Templates("Ordner {path} anlegen"),
    "move_file": Templates("{source} nach {destination} verschieben"),
}
_LINEAR = {
    "create_issue": Templates("Linear-Issue anlegen", "{title}"),
    "update_issue": Templates("Linear-Issue {id} ändern"),
    "create_comment": Templates("Linear-Issue {issueId} kommentieren"),
    "save_issue": Templates("Linear-Issue anlegen oder ändern"),
    "save_comment": Templates("In Linear kommentieren"),
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
_POSTGRES = {"query": Templates("Datenbank abfragen")}
GERMAN: Mapping[str, Templates] = {
    **_CLAUDE,
    **_OTHERS,
    **of_servers(
        github=_GITHUB,
        linear=_LINEAR,
        stripe=_STRIPE,
        slack=_SLACK,
        atlassian=_ATLASSIAN,
        kubernetes=_KUBERNETES,
        filesystem=_FILES,
        postgres=_POSTGRES,
        **{"mcp-atlassian": _JIRA},
    ),
}

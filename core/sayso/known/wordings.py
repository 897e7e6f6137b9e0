"""Descriptions of calls of well-known tools: a reviewed table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from gettext import NullTranslations
from typing import Any

from sayso.calls import ToolCall
from sayso.formats import formats_of
from sayso.locales import ENGLISH, gettext_noop
from sayso.wording.wording import Templates, Wording


def of_servers(**servers: Mapping[str, Templates]) -> Mapping[str, Templates]:
    """Tools of MCP servers by the names that hosts give them."""
    return {
        f"mcp__{server}__{tool}": said
        for server, tools in servers.items()
        for tool, said in tools.items()
    }


_CLAUDE = {
    "Bash": Templates("Run a command"),
    "Edit": Templates("Edit {file_path}"),
    "MultiEdit": Templates("Edit {file_path}"),
    "Write": Templates("Write {file_path}"),
    "NotebookEdit": Templates("Edit {notebook_path}"),
    "Read": Templates("Read {file_path}"),
    "WebFetch": Templates("Fetch {url}"),
    "WebSearch": Templates("Search the web for {query}"),
    "Task": Templates("Start a sub-agent"),
}
_OTHERS = {
    "shell": Templates("Run a command"),
    "run_shell_command": Templates("Run a command"),
    "execute_command": Templates("Run a command"),
    "run_terminal_cmd": Templates("Run a command"),
    "apply_patch": Templates("Change files"),
    "write_file": Templates("Write {file_path}"),
    "replace": Templates("Edit {file_path}"),
    "kubectl_apply": Templates("Apply a manifest"),
    "kubectl_delete": Templates("Delete {resourceType} {name}"),
    "execute_sql": Templates("Run SQL"),
}
_GITHUB = {
    "create_pull_request": Templates("Open a pull request in {owner}/{repo}", "{title}"),
    "merge_pull_request": Templates("Merge pull request {pullNumber} of {owner}/{repo}"),
    "create_issue": Templates("Open an issue in {owner}/{repo}", "{title}"),
    "add_issue_comment": Templates("Comment on issue {issue_number} of {owner}/{repo}"),
    "push_files": Templates("Push files to {branch} of {owner}/{repo}", "{message}"),
    "create_or_update_file": Templates("Write {path} in {owner}/{repo}", "{message}"),
    "delete_file": Templates("Delete {path} in {owner}/{repo}", "{message}"),
    "create_branch": Templates("Make the branch {branch} in {owner}/{repo}"),
    "create_repository": Templates("Make the repository {name}"),
    "fork_repository": Templates("Fork {owner}/{repo}"),
    "issue_write": Templates("Write an issue in {owner}/{repo}"),
    "update_pull_request": Templates("Change pull request {pullNumber} of {owner}/{repo}"),
    "pull_request_review_write": Templates("Review pull request {pullNumber} of {owner}/{repo}"),
    "run_workflow": Templates("Run {workflow_id} of {owner}/{repo} on {ref}"),
    "create_gist": Templates("Make a gist of {filename}"),
}
_SLACK = {
    "slack_post_message": Templates("Post in the channel {channel_id}"),
    "slack_reply_to_thread": Templates("Reply in the channel {channel_id}"),
    "conversations_add_message": Templates("Post in the channel {channel_id}"),
}
_ATLASSIAN = {
    "createJiraIssue": Templates("Make a Jira issue in {projectKey}", "{summary}"),
    "editJiraIssue": Templates("Change the Jira issue {issueIdOrKey}"),
    "transitionJiraIssue": Templates("Move the Jira issue {issueIdOrKey}"),
    "addCommentToJiraIssue": Templates("Comment on the Jira issue {issueIdOrKey}"),
}
_JIRA = {
    "jira_create_issue": Templates("Make a Jira issue in {project_key}", "{summary}"),
    "jira_update_issue": Templates("Change the Jira issue {issue_key}"),
    "jira_transition_issue": Templates("Move the Jira issue {issue_key}"),
    "jira_add_comment": Templates("Comment on the Jira issue {issue_key}"),
    "jira_delete_issue": Templates("Delete the Jira issue {issue_key}"),
}
_KUBERNETES = {
    "kubectl_apply": Templates("Apply a manifest"),
    "kubectl_delete": Templates("Delete {resourceType} {name}"),
    "kubectl_scale": Templates("Scale {name} to {replicas}"),
    "kubectl_rollout": Templates("Rollout ({subCommand}) of {resourceType} {name}"),
    "install_helm_chart": Templates("Install {chart} as {name} in {namespace}"),
    "upgrade_helm_chart": Templates("Upgrade {name} in {namespace} with {chart}"),
    "uninstall_helm_chart": Templates("Uninstall {name} from {namespace}"),
}
_FILES = {
    "write_file": Templates("Write {path}"),
    "edit_file": Templates("Edit {path}"),
    "create_directory": Templates("Make the folder {path}"),
    "move_file": Templates("Move {source} to {destination}"),
}
_LINEAR = {
    "create_issue": Templates("Make a Linear issue", "{title}"),
    "update_issue": Templates("Change the Linear issue {id}"),
    "create_comment": Templates("Comment on the Linear issue {issueId}"),
    "save_issue": Templates("Make or change a Linear issue"),
    "save_comment": Templates("Comment on Linear"),
    "create_project": Templates("Make the Linear project {name}"),
}
_STRIPE = {
    "create_refund": Templates(
        "Refund a payment",
        facts={
            gettext_noop("Amount"): "{money(amount, currency)}",
            gettext_noop("Payment"): "{payment_intent}",
        },
    ),
    "create_payment_link": Templates("Make a payment link"),
    "create_invoice": Templates("Make an invoice for {customer}"),
    "finalize_invoice": Templates("Finalise the invoice {invoice}"),
    "cancel_subscription": Templates("Cancel the subscription {subscription}"),
    "create_customer": Templates("Make the customer {name}"),
    "create_price": Templates(
        "Make a price", facts={gettext_noop("Amount"): "{money(unit_amount, currency)}"}
    ),
}
_POSTGRES = {"query": Templates("Query the database")}
WORDINGS: Mapping[str, Templates] = {
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
"""By the name of the tool: a command's own title is what it runs, and that stands below it."""


def well_known(
    call: ToolCall, shown: Mapping[str, Any], translations: NullTranslations = ENGLISH
) -> Wording | None:
    """Describe a call of a well-known tool, with its arguments as people may see them."""
    templates = WORDINGS.get(call.name)
    if templates is None:
        return None
    facts = {translations.gettext(label): text for label, text in templates.facts.items()}
    said = replace(templates, title=translations.gettext(templates.title), facts=facts)
    return said.said(call.name, shown, formats_of(translations))

"""Slack as a test or a person uses it: look at messages, press buttons, send forms."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sayso_playground.config import Member, PlaygroundConfig
from sayso_playground.faults import PATIENCE_SECONDS, Changes, Delivery, Double
from sayso_playground.slack.api import SlackApi
from sayso_playground.slack.callbacks import (
    VERIFICATION_TOKEN,
    Payloads,
    button_of,
    signed_headers,
)
from sayso_playground.slack.delivery import SlackDelivery, SlackSocket
from sayso_playground.slack.forms import HELD_BACK, complaints
from sayso_playground.slack.modals import after_command, after_submission
from sayso_playground.slack.people import group_changes, user_json
from sayso_playground.slack.state import Json, SlackMessage, SlackState, SlackView

Who = str | int | Member
Alter = Callable[[Json], None]
"""Changes a payload in place before it is signed: another team, a missing field."""


class SlackDouble(Double):
    """A workspace with one app installed.

    ``calls`` holds every API call, ``deliveries`` every callback to the bot.
    """

    def __init__(
        self, config: PlaygroundConfig, changes: Changes, base_url: Callable[[], str]
    ) -> None:
        super().__init__(config, changes)
        self.state = SlackState(config, changes.ring)
        self.socket = SlackSocket(config)
        self.api = SlackApi(
            self.state, self.faults, self.calls, lambda: self.socket.new_url(base_url())
        )
        self._delivery = SlackDelivery(config, self.faults, self.socket)
        self._payloads = Payloads(self.state, base_url)

    @property
    def deliveries(self) -> list[Delivery]:
        """Every callback sent to the bot so far, oldest first."""
        return self._delivery.all

    def deliver_to(self, url: str | None) -> None:
        """Send callbacks to this address; with ``None`` over Socket Mode."""
        self._delivery.url = url

    def messages(self, channel: str | None = None) -> list[SlackMessage]:
        """The messages everybody sees, oldest first."""
        return [
            message
            for message in self.state.messages.values()
            if not message.only_for and channel in (None, message.channel)
        ]

    def ephemerals(self, who: Who) -> list[SlackMessage]:
        """The messages only this person sees, oldest first."""
        user = self.config.member(who).slack_id
        return [message for message in self.state.messages.values() if message.only_for == user]

    def view(self, who: Who) -> SlackView | None:
        """The modal this person has open, if any."""
        return self.state.views.get(self.config.member(who).slack_id)

    def home(self, who: Who) -> SlackView | None:
        """The App Home that was published to this person, if any."""
        return self.state.homes.get(self.config.member(who).slack_id)

    async def home_for(
        self,
        who: Who,
        wanted: Callable[[SlackView], bool] = bool,
        timeout: float = PATIENCE_SECONDS,
    ) -> SlackView:
        """Wait until this person has an App Home that fits.

        Raises:
            TimeoutError: none came in time.
        """
        return await self._fitting(lambda: self.home(who), wanted, "App Home in Slack", timeout)

    async def open_home(self, who: Who, *, alter: Alter | None = None) -> Delivery:
        """Open the App Home's first tab; the bot hears of it."""
        event: Json = {
            "type": "app_home_opened",
            "user": self.config.member(who).slack_id,
            "channel": f"D{self.config.member(who).slack_id[1:]}",
            "event_ts": self.state.next_ts(),
            "tab": "home",
        }
        return await self.send_event(event, alter)

    async def command(
        self,
        command: str,
        *,
        by: Who,
        channel: str = "C0OPS",
        text: str = "",
        alter: Alter | None = None,
    ) -> Delivery:
        """Give a slash command; what the bot answers is shown where it says."""
        member = self.config.member(by)
        payload = self._payloads.command(command, text, channel, member)
        if alter:
            alter(payload)
        delivery = await self._delivery.command(payload)
        if delivery.error is None and delivery.body:
            after_command(self.state, channel, member.slack_id, delivery.body)
        return delivery

    def error_mark(self, message: SlackMessage) -> str | None:
        """Return what went wrong with the last press, as shown beside the message."""
        return self.state.marks.get((message.channel, message.ts))

    async def message_where(
        self, wanted: Callable[[SlackMessage], bool], timeout: float = PATIENCE_SECONDS
    ) -> SlackMessage:
        """Wait for a message everybody sees; the newest that fits.

        Raises:
            TimeoutError: none came in time.
        """
        return await self._changes.until(
            lambda: next(filter(wanted, reversed(self.messages())), None), "Slack message", timeout
        )

    async def ephemeral_where(
        self,
        who: Who,
        wanted: Callable[[SlackMessage], bool] = bool,
        timeout: float = PATIENCE_SECONDS,
    ) -> SlackMessage:
        """Wait for a message only this person sees.

        Raises:
            TimeoutError: none came in time.
        """
        return await self._changes.until(
            lambda: next(filter(wanted, reversed(self.ephemerals(who))), None),
            "ephemeral Slack message",
            timeout,
        )

    async def view_for(
        self,
        who: Who,
        wanted: Callable[[SlackView], bool] = bool,
        timeout: float = PATIENCE_SECONDS,
    ) -> SlackView:
        """Wait until this person has a modal open that fits.

        Raises:
            TimeoutError: none came in time.
        """
        return await self._fitting(lambda: self.view(who), wanted, "Slack modal", timeout)

    async def _fitting(
        self,
        seen: Callable[[], SlackView | None],
        wanted: Callable[[SlackView], bool],
        what: str,
        timeout: float,
    ) -> SlackView:
        def find() -> SlackView | None:
            view = seen()
            return view if view and wanted(view) else None

        return await self._changes.until(find, what, timeout)

    async def press(
        self,
        shown: SlackMessage | SlackView,
        button: str,
        *,
        by: Who,
        choose: str | None = None,
        alter: Alter | None = None,
    ) -> Delivery:
        """Press the button with this label or action_id, its confirm dialog accepted.

        The button is looked up in what was handed in, as by somebody whose client has not
        refreshed: pressing a button that is gone meanwhile is possible. ``choose`` picks an
        option of a menu.
        """
        member = self.config.member(by)
        block_id, element = button_of(shown, button)
        payload = self._payloads.block_actions(shown, block_id, element, member, choose)
        delivery = await self._interact(payload, alter)
        if isinstance(shown, SlackMessage):
            self.state.mark(shown, delivery.error)
        return delivery

    async def submit(
        self,
        view: SlackView,
        values: Mapping[str, Any] | None = None,
        *,
        by: Who,
        alter: Alter | None = None,
        checked: bool = True,
    ) -> Delivery:
        """Fill in a form and send it off; what the bot answers happens to it.

        Values are by label, block_id or action_id, an option by its words or its value; what
        is not named stays as it was. What Slack's client insists on (an answer, its length,
        a number) is shown as ``errors`` of the view and sent to nobody; a client that was
        tampered with is not ``checked``.
        """
        member = self.config.member(by)
        payload = self._payloads.view_submission(view, values or {}, member)
        state = payload["view"]["state"]["values"]
        if checked and (errors := complaints(view.view["blocks"], state)):
            self.state.put_view(replace(view, errors=errors))
            return Delivery(None, error=HELD_BACK)
        delivery = await self._interact(payload, alter)
        if delivery.error is None:
            after_submission(self.state, view, delivery.body)
        return delivery

    async def close_view(self, view: SlackView, *, by: Who) -> Delivery | None:
        """Close a modal; the bot hears of it only if it asked with ``notify_on_close``."""
        member = self.config.member(by)
        self.state.close_views(member.slack_id)
        if not view.view.get("notify_on_close"):
            return None
        payload = self._payloads.view_closed(view, member, whole_stack=view.previous is None)
        return await self._interact(payload, None)

    async def send_event(self, event: Json, alter: Alter | None = None) -> Delivery:
        """Deliver an Events API callback with this event, once."""
        payload = self._payloads.event(event)
        if alter:
            alter(payload)
        return await self._delivery.event(payload)

    async def change_member(self, who: Who, *, tell: bool = True, **fields: Any) -> None:
        """Change fields of a member in the workspace; Slack tells of it unless told not to."""
        member = self.state.people[self.config.member(who).slack_id]
        changed = self.state.people[member.slack_id] = replace(member, **fields)
        if tell:
            user = user_json(changed, self.config)
            await self.send_event({"type": "user_change", "user": user, "cache_ts": 0})

    async def change_group(self, handle: str, *members: str, tell: bool = True) -> None:
        """Let a user group have these members, by id; Slack tells of it unless told not to."""
        before = next(one for one in self.state.groups.values() if one.handle == handle)
        after = self.state.groups[before.id] = replace(before, members=members)
        for event in group_changes(before, after, self.config) if tell else ():
            await self.send_event(event)

    async def verify_url(self, challenge: str = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd") -> Delivery:
        """Do what saving the Request URL does: the bot should answer the challenge."""
        body = {"token": VERIFICATION_TOKEN, "challenge": challenge, "type": "url_verification"}
        delivery = await self._delivery.event(body)
        if challenge in delivery.body:
            return delivery
        error = delivery.error or "the answer did not contain the challenge"
        return Delivery(delivery.status, delivery.body, delivery.seconds, error, delivery.statuses)

    async def uninstall(self) -> Delivery:
        """Take the app out of the workspace: its token dies, and it is told so."""
        self.state.uninstalled = True
        return await self.send_event({"type": "app_uninstalled"})

    def sign(self, body: bytes, timestamp: int | None = None) -> dict[str, str]:
        """The headers that make these bytes Slack's, at this or at the current time."""
        at = int(self.config.clock()) if timestamp is None else timestamp
        return signed_headers(self.config.slack_signing_secret, body, at)

    async def deliver_raw(self, body: bytes, headers: Mapping[str, str]) -> Delivery:
        """Post these bytes to the bot with exactly these headers."""
        return await self._delivery.raw(body, dict(headers))

    def block_actions(self, shown: SlackMessage, button: str, *, by: Who) -> Json:
        """The payload a press would send, to be bent and delivered with ``deliver_raw``."""
        block_id, element = button_of(shown, button)
        return self._payloads.block_actions(shown, block_id, element, self.config.member(by))

    def say(self, channel: str, text: str, *, by: Who) -> SlackMessage:
        """Post a person's message."""
        user = self.config.member(by).slack_id
        return self.state.post(SlackMessage(channel, self.state.next_ts(), text, user=user))

    async def _interact(self, payload: Json, alter: Alter | None) -> Delivery:
        if alter:
            alter(payload)
        delivery = await self._delivery.interaction(payload)
        self._changes.ring()
        return delivery

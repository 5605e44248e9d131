/** One endpoint: its state, its actions, and its deliveries. */
import { Alert, Anchor, Button, Checkbox, Group, Select, Stack, Text, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link, useLocation } from "wouter"
import type { EventType } from "../../../domain/webhookEvents.ts"
import { useAsk, useDo } from "../../gateway/hooks.tsx"
import { Asked } from "../../parts/Asked.tsx"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { oneOfWords } from "../../parts/controls/addressFields.tsx"
import { Facts } from "../../parts/controls/Facts.tsx"
import { SecretOnce } from "../../parts/controls/SecretOnce.tsx"
import { inks } from "../../parts/controls/StateBadge.tsx"
import { Id, Moment } from "../../parts/texts.tsx"
import { DeliveryLog } from "./DeliveryLog.tsx"
import { EndpointDialog } from "./EndpointDialog.tsx"
import { EndpointState } from "./EndpointList.tsx"
import type { Endpoint, EndpointChange, HookCalls } from "./hookCalls.ts"

interface Props {
  readonly calls: HookCalls
  readonly id: string
  /** The address of the list. */
  readonly listAddress: string
}

const timeOf = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString()

type Opened = "change" | "disable" | "delete" | "rotate" | "test" | null

const Actions = ({ calls, endpoint, listAddress }: Omit<Props, "id"> & { endpoint: Endpoint }) => {
  const { t } = useTranslation("webhooks")
  const [, go] = useLocation()
  const [opened, setOpened] = useState<Opened>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [keepsOld, setKeepsOld] = useState(true)
  const [type, setType] = useState<EventType | undefined>(calls.events[0])
  const { id } = endpoint
  const about = [calls.area]
  const change = useDo((input: EndpointChange) => calls.change(id, input), about)
  const rotate = useDo((keeps: boolean) => calls.rotate(id, keeps), about)
  const test = useDo((event: EventType) => calls.test(id, event), about)
  const remove = useDo(() => calls.remove(id))
  const close = () => setOpened(null)
  const open = (what: Opened) => {
    for (const each of [change, rotate, test, remove]) each.reset()
    setOpened(what)
  }
  const isEnabled = endpoint.status === "enabled"
  const said = (message: string) => {
    notifications.show({ message })
    close()
  }
  return (
    <Group gap="xs">
      <Button onClick={() => open("test")}>{t("test")}</Button>
      <Button variant="default" onClick={() => open("change")}>
        {t("change")}
      </Button>
      <Button variant="default" onClick={() => open("rotate")}>
        {t("rotate")}
      </Button>
      {isEnabled ? (
        <Button variant="default" onClick={() => open("disable")}>
          {t("disable")}
        </Button>
      ) : (
        <Button
          variant="default"
          loading={change.isPending}
          onClick={() => change.mutate({ enabled: true }, { onSuccess: () => said(t("enabled")) })}
        >
          {t("enable")}
        </Button>
      )}
      <Button variant="default" c={inks.bad} onClick={() => open("delete")}>
        {t("delete")}
      </Button>
      {opened === "test" ? (
        <ActionDialog
          title={t("test")}
          action={t("testNow")}
          doing={test}
          onDo={() =>
            type === undefined
              ? undefined
              : test.mutate(type, {
                  onSuccess: ({ status_code }) => said(t("tested", { status: status_code }))
                })
          }
          onClose={close}
        >
          <Text size="sm">{t("testHint")}</Text>
          <Select
            label={t("event")}
            data={[...calls.events]}
            value={type ?? null}
            allowDeselect={false}
            onChange={(value) => setType(oneOfWords(value ?? "", calls.events))}
          />
        </ActionDialog>
      ) : null}
      {opened === "change" ? (
        <EndpointDialog
          title={t("change")}
          action={t("saveNow")}
          events={calls.events}
          endpoint={endpoint}
          doing={change}
          onDo={(form) => change.mutate(form, { onSuccess: () => said(t("changed")) })}
          onClose={close}
        />
      ) : null}
      {opened === "rotate" ? (
        <ActionDialog
          title={t("rotate")}
          action={t("rotateNow")}
          doing={rotate}
          onDo={() =>
            rotate.mutate(keepsOld, {
              onSuccess: ({ signing_secret }) => {
                close()
                setSecret(signing_secret)
              }
            })
          }
          onClose={close}
        >
          <Text size="sm">{t("rotateHint")}</Text>
          <Checkbox
            label={t("keepOld")}
            checked={keepsOld}
            onChange={(event) => setKeepsOld(event.currentTarget.checked)}
          />
        </ActionDialog>
      ) : null}
      {opened === "disable" ? (
        <ActionDialog
          title={t("disable")}
          action={t("disable")}
          isDangerous
          doing={change}
          onDo={() => change.mutate({ enabled: false }, { onSuccess: () => said(t("disabled")) })}
          onClose={close}
        >
          <Text size="sm">{t("disableHint", { name: endpoint.name })}</Text>
        </ActionDialog>
      ) : null}
      {opened === "delete" ? (
        <ActionDialog
          title={t("delete")}
          action={t("delete")}
          isDangerous
          doing={remove}
          onDo={() =>
            remove.mutate(undefined, {
              onSuccess: () => {
                said(t("deleted"))
                go(listAddress)
              }
            })
          }
          onClose={close}
        >
          <Text size="sm">{t("deleteHint", { name: endpoint.name })}</Text>
        </ActionDialog>
      ) : null}
      {secret === null ? null : (
        <SecretOnce
          title={t("secretTitle")}
          label={t("secret")}
          secret={secret}
          onKept={() => setSecret(null)}
        />
      )}
    </Group>
  )
}

export const EndpointPage = ({ calls, id, listAddress }: Props) => {
  const { t } = useTranslation("webhooks")
  const endpoint = useAsk([...calls.area, "one", id], calls.read(id))
  return (
    <Stack gap="lg">
      <Anchor component={Link} href={listAddress} size="sm">
        {t("toList")}
      </Anchor>
      <Asked query={endpoint}>
        {(one) => (
          <Stack>
            <Group gap="sm">
              <Title order={2}>{one.name}</Title>
              <EndpointState endpoint={one} />
            </Group>
            {one.disabled_reason === null ? null : (
              <Alert
                color="orange"
                role="status"
                title={
                  <Text span inherit c="var(--mantine-color-text)">
                    {t("whyDisabled")}
                  </Text>
                }
              >
                <Text size="sm" className="said">
                  {one.disabled_reason}
                </Text>
              </Alert>
            )}
            {calls.mayChange ? (
              <Actions calls={calls} endpoint={one} listAddress={listAddress} />
            ) : null}
            <Facts
              facts={[
                {
                  name: t("url"),
                  value: <span className="said">{one.url === "" ? t("ofOrders") : one.url}</span>
                },
                { name: t("events"), value: one.event_types.join(", ") },
                { name: t("hint"), value: one.signing_secret_hint ?? t("noSecret") },
                { name: t("failingSince"), value: <Moment at={timeOf(one.failing_since)} /> },
                { name: t("created"), value: <Moment at={timeOf(one.created_at)} /> },
                { name: "id", value: <Id id={one.id} /> }
              ]}
            />
          </Stack>
        )}
      </Asked>
      <DeliveryLog calls={calls} id={id} />
    </Stack>
  )
}

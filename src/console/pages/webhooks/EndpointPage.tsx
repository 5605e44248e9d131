/** One endpoint: its state, its actions, and its deliveries. */
import { Alert, Button, Checkbox, Group, Select, Stack, Text, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useLocation } from "wouter"
import type { EventType } from "../../../domain/webhookEvents.ts"
import { useApiMutation, useApiQuery } from "../../gateway/hooks.tsx"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { matchOption } from "../../parts/controls/addressFields.tsx"
import { BackLink } from "../../parts/controls/BackLink.tsx"
import { Facts } from "../../parts/controls/Facts.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { inks } from "../../parts/controls/StateBadge.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"
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

type DialogKind = "change" | "disable" | "delete" | "rotate" | "test" | null

const Actions = ({ calls, endpoint, listAddress }: Omit<Props, "id"> & { endpoint: Endpoint }) => {
  const { t } = useTranslation("webhooks")
  const [, navigate] = useLocation()
  const [openDialog, setOpenDialog] = useState<DialogKind>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const [keepsOldSecret, setKeepsOldSecret] = useState(true)
  const [type, setType] = useState<EventType | undefined>(calls.events[0])
  const { id } = endpoint
  const staleKeys = [calls.area]
  const change = useApiMutation((input: EndpointChange) => calls.change(id, input), staleKeys)
  const rotate = useApiMutation((keepsSecret: boolean) => calls.rotate(id, keepsSecret), staleKeys)
  const test = useApiMutation((event: EventType) => calls.test(id, event), staleKeys)
  const remove = useApiMutation(() => calls.remove(id))
  const close = () => setOpenDialog(null)
  const open = (dialog: DialogKind) => {
    for (const mutation of [change, rotate, test, remove]) mutation.reset()
    setOpenDialog(dialog)
  }
  const isEnabled = endpoint.status === "enabled"
  const notifyAndClose = (message: string) => {
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
          onClick={() =>
            change.mutate({ enabled: true }, { onSuccess: () => notifyAndClose(t("enabled")) })
          }
        >
          {t("enable")}
        </Button>
      )}
      <Button variant="default" c={inks.bad} onClick={() => open("delete")}>
        {t("delete")}
      </Button>
      {openDialog === "test" ? (
        <ActionDialog
          title={t("test")}
          action={t("testNow")}
          mutation={test}
          onSubmit={() =>
            type === undefined
              ? undefined
              : test.mutate(type, {
                  onSuccess: ({ status_code }) =>
                    notifyAndClose(t("tested", { status: status_code }))
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
            onChange={(value) => setType(matchOption(value ?? "", calls.events))}
          />
        </ActionDialog>
      ) : null}
      {openDialog === "change" ? (
        <EndpointDialog
          title={t("change")}
          action={t("saveNow")}
          events={calls.events}
          endpoint={endpoint}
          mutation={change}
          onSubmit={(form) =>
            change.mutate(form, { onSuccess: () => notifyAndClose(t("changed")) })
          }
          onClose={close}
        />
      ) : null}
      {openDialog === "rotate" ? (
        <ActionDialog
          title={t("rotate")}
          action={t("rotateNow")}
          mutation={rotate}
          onSubmit={() =>
            rotate.mutate(keepsOldSecret, {
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
            checked={keepsOldSecret}
            onChange={(event) => setKeepsOldSecret(event.currentTarget.checked)}
          />
        </ActionDialog>
      ) : null}
      {openDialog === "disable" ? (
        <ActionDialog
          title={t("disable")}
          action={t("disable")}
          isDangerous
          mutation={change}
          onSubmit={() =>
            change.mutate({ enabled: false }, { onSuccess: () => notifyAndClose(t("disabled")) })
          }
          onClose={close}
        >
          <Text size="sm">{t("disableHint", { name: endpoint.name })}</Text>
        </ActionDialog>
      ) : null}
      {openDialog === "delete" ? (
        <ActionDialog
          title={t("delete")}
          action={t("delete")}
          isDangerous
          mutation={remove}
          onSubmit={() =>
            remove.mutate(undefined, {
              onSuccess: () => {
                notifyAndClose(t("deleted"))
                navigate(listAddress)
              }
            })
          }
          onClose={close}
        >
          <Text size="sm">{t("deleteHint", { name: endpoint.name })}</Text>
        </ActionDialog>
      ) : null}
      {secret === null ? null : (
        <SecretDialog
          title={t("secretTitle")}
          label={t("secret")}
          secret={secret}
          onConfirm={() => setSecret(null)}
        />
      )}
    </Group>
  )
}

export const EndpointPage = ({ calls, id, listAddress }: Props) => {
  const { t } = useTranslation("webhooks")
  const endpoint = useApiQuery([...calls.area, "one", id], calls.readEndpoint(id))
  return (
    <Stack gap="lg">
      <BackLink href={listAddress} label={t("toList")} />
      <QueryView query={endpoint}>
        {(details) => (
          <Stack>
            <Group gap="sm">
              <Title order={2}>{details.name}</Title>
              <EndpointState endpoint={details} />
            </Group>
            {details.disabled_reason === null ? null : (
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
                  {details.disabled_reason}
                </Text>
              </Alert>
            )}
            {calls.mayChange ? (
              <Actions calls={calls} endpoint={details} listAddress={listAddress} />
            ) : null}
            <Facts
              facts={[
                {
                  name: t("url"),
                  value: (
                    <span className="said">{details.url === "" ? t("ofOrders") : details.url}</span>
                  )
                },
                { name: t("events"), value: details.event_types.join(", ") },
                { name: t("hint"), value: details.signing_secret_hint ?? t("noSecret") },
                {
                  name: t("failingSince"),
                  value: <Timestamp at={timeOf(details.failing_since)} />
                },
                { name: t("created"), value: <Timestamp at={timeOf(details.created_at)} /> },
                { name: "ID", value: <Id id={details.id} /> }
              ]}
            />
          </Stack>
        )}
      </QueryView>
      <DeliveryLog calls={calls} id={id} />
    </Stack>
  )
}

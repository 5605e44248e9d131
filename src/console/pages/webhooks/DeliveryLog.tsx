/**
 * The messages to an endpoint with every attempt and its response. Each message can be sent again.
 */
import { Button, Code, Group, Modal, Stack, Text, TextInput, Title } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiMutation, usePages } from "../../gateway/hooks.tsx"
import { ActionDialog, useRestoreFocus } from "../../parts/controls/ActionDialog.tsx"
import { ChoiceFilter, matchOption, useAddressValue } from "../../parts/controls/addressFields.tsx"
import { StateBadge, type Tone } from "../../parts/controls/StateBadge.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"
import {
  type Delivery,
  type DeliveryState,
  deliveryStates,
  type HookCalls,
  type Redelivery
} from "./hookCalls.ts"

/** The polling interval, so that new messages appear automatically. */
const EVERY_MILLIS = 3_000

const tones: Readonly<Record<DeliveryState, Tone>> = {
  pending: "busy",
  delivered: "good",
  failed: "bad"
}

const Attempts = ({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) => {
  const { t } = useTranslation("webhooks")
  const { t: shell } = useTranslation()
  useRestoreFocus()
  return (
    <Modal
      opened
      size="lg"
      title={`${delivery.type} · ${t("attempts")}`}
      returnFocus={false}
      onClose={onClose}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <Stack>
        <Group gap="xs">
          <Id id={delivery.id} isFull />
        </Group>
        {delivery.attempts.length === 0 ? <Text size="sm">{t("noAttempt")}</Text> : null}
        {delivery.attempts.map((attempt) => (
          <Stack key={attempt.at} gap={4}>
            <Group gap="sm">
              <Timestamp at={attempt.at} />
              <Text size="sm" fw={600}>
                {attempt.status === null
                  ? t("noAnswer")
                  : t("answered", { status: attempt.status })}
              </Text>
              <Text size="sm" c="dimmed">
                {t("took", { millis: attempt.duration_ms })}
              </Text>
            </Group>
            {attempt.error === null ? null : (
              <Text size="sm" className="said">
                {attempt.error}
              </Text>
            )}
            {attempt.answer === null || attempt.answer === "" ? null : (
              <Code block className="said">
                {attempt.answer}
              </Code>
            )}
          </Stack>
        ))}
      </Stack>
    </Modal>
  )
}

export const DeliveryLog = ({ calls, id }: { readonly calls: HookCalls; readonly id: string }) => {
  const { t } = useTranslation("webhooks")
  const [status] = useAddressValue("status")
  const state = matchOption(status, deliveryStates)
  const filter = state === undefined ? {} : { status: state }
  const key = [...calls.area, "deliveries", id]
  const log = usePages([...key, state], (after) => calls.deliveries(id, filter, after), {
    intervalMillis: EVERY_MILLIS
  })
  const [openDelivery, setOpenDelivery] = useState<Delivery | null>(null)
  const [isOpen, { open, close }] = useDisclosure(false)
  const [since, setSince] = useState("")
  const redelivery = useApiMutation((request: Redelivery) => calls.redeliver(id, request), [key])
  const send = (request: Redelivery) =>
    redelivery.mutate(request, {
      onSuccess: ({ redelivered }) => {
        notifications.show({ message: t("redelivered", { count: redelivered }) })
        close()
      }
    })
  const isSending = (delivery: Delivery) =>
    redelivery.isPending &&
    redelivery.variables !== undefined &&
    "delivery_id" in redelivery.variables &&
    redelivery.variables.delivery_id === delivery.id
  const columns: ReadonlyArray<Column<Delivery>> = [
    { name: "at", label: t("at"), cell: ({ created_at }) => <Timestamp at={created_at} isShort /> },
    { name: "type", label: t("event"), cell: ({ type }) => type },
    {
      name: "state",
      label: t("state"),
      cell: (delivery) => (
        <StateBadge tone={tones[delivery.status]}>
          {t(`deliveryStates.${delivery.status}`)}
        </StateBadge>
      )
    },
    {
      name: "attempts",
      label: t("attempts"),
      cell: (delivery) => {
        const last = delivery.attempts.at(-1)
        const attemptsText =
          last === undefined
            ? t("noAttempt")
            : `${delivery.attempts.length} · ${last.status ?? t("noAnswer")}`
        return (
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={`${t("attempts")}: ${attemptsText}`}
            onClick={() => setOpenDelivery(delivery)}
          >
            {attemptsText}
          </Button>
        )
      }
    },
    {
      name: "next",
      label: t("nextAttempt"),
      cell: ({ next_attempt_at }) => <Timestamp at={next_attempt_at} isShort />
    },
    {
      name: "task",
      label: t("task"),
      cell: ({ task_id }) => (task_id === null ? t("noTask") : <Id id={task_id} />)
    },
    {
      name: "url",
      label: t("url"),
      cell: ({ url }) => <span className="said">{url ?? ""}</span>,
      isHidden: true
    },
    ...(calls.mayChange
      ? [
          {
            name: "again",
            label: t("again"),
            cell: (delivery: Delivery) => (
              <Button
                variant="default"
                size="compact-sm"
                loading={isSending(delivery)}
                disabled={redelivery.isPending}
                onClick={() => send({ delivery_id: delivery.id })}
              >
                {t("again")}
              </Button>
            )
          }
        ]
      : [])
  ]
  return (
    <Stack>
      <Title order={3} size="h4">
        {t("log")}
      </Title>
      <Group align="flex-end" justify="space-between">
        <ChoiceFilter
          name="status"
          label={t("state")}
          choices={deliveryStates.map((value) => ({
            value,
            label: t(`deliveryStates.${value}`)
          }))}
        />
        {calls.mayChange ? (
          <Button
            variant="default"
            onClick={() => {
              redelivery.reset()
              open()
            }}
          >
            {t("againSince")}
          </Button>
        ) : null}
      </Group>
      {redelivery.error === null || isOpen ? null : <FailureNote error={redelivery.error} />}
      <DataTable label={t("log")} columns={columns} query={log} empty={t("noDelivery")} />
      {openDelivery === null ? null : (
        <Attempts delivery={openDelivery} onClose={() => setOpenDelivery(null)} />
      )}
      {isOpen ? (
        <ActionDialog
          title={t("againSince")}
          action={t("againNow")}
          mutation={redelivery}
          onSubmit={() => {
            const time = new Date(since)
            if (!Number.isNaN(time.getTime())) send({ since: time.toISOString() })
          }}
          onClose={close}
        >
          <Text size="sm">{t("againHint")}</Text>
          <TextInput
            type="datetime-local"
            label={t("since")}
            required
            value={since}
            onChange={(event) => setSince(event.currentTarget.value)}
          />
        </ActionDialog>
      ) : null}
    </Stack>
  )
}

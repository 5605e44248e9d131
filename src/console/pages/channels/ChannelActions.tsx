/** The actions on a channel: testing it without cost, draining it, and enabling it again. */
import { Button, Card, Group, List, Modal, Stack, Text } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import type { ChannelCheckView, ChannelView } from "../../../features/catalog/ChannelsApi.ts"
import { useApiMutation, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { FailureNote } from "../../parts/FailureNote.tsx"

const verdictOf = (value: boolean | null) => (value === null ? "untold" : value ? "yes" : "no")

export const Check = ({ check }: { readonly check: ChannelCheckView }) => {
  const { t } = useTranslation("channels")
  const { protocol, key, reachable, tls, credential_accepted, duration_ms, message } = check
  const heading = [
    ...(protocol === null ? [] : [t("protocol", { protocol })]),
    ...(key === null ? [] : [t("withKey", { key })])
  ].join(" ")
  return (
    <Card withBorder>
      <Stack gap="xs">
        {heading === "" ? null : <Text fw={600}>{heading}</Text>}
        <List size="sm">
          <List.Item>{t(`reachable.${verdictOf(reachable)}`)}</List.Item>
          {reachable === null ? null : (
            <>
              <List.Item>{t(`tls.${verdictOf(tls)}`)}</List.Item>
              <List.Item>{t(`accepted.${verdictOf(credential_accepted)}`)}</List.Item>
            </>
          )}
          {duration_ms === null ? null : (
            <List.Item>{t("took", { millis: duration_ms })}</List.Item>
          )}
        </List>
        <Text size="sm" className="said">
          {message}
        </Text>
      </Stack>
    </Card>
  )
}

const TestDialog = ({
  id,
  isOpen,
  onClose
}: {
  readonly id: string
  readonly isOpen: boolean
  readonly onClose: () => void
}) => {
  const { t } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const test = useApiMutation(
    (channel: string) => (gateway) => gateway.channels.testChannel({ params: { id: channel } }),
    [["channels"]]
  )
  const isAsked = useRef(false)
  useEffect(() => {
    // In development, effects of a mounted component run twice.
    if (isOpen && !isAsked.current) test.mutate(id)
    isAsked.current = isOpen
  }, [isOpen, id, test.mutate])
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t("testTitle", { id })}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {t("testHint")}
        </Text>
        <Stack role="status" gap="xs">
          {test.isPending ? <Text size="sm">{t("testing")}</Text> : null}
          {test.data?.data.map((check) => (
            <Check key={`${check.protocol} ${check.key}`} check={check} />
          ))}
        </Stack>
        {test.isError ? <FailureNote error={test.error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" loading={test.isPending} onClick={() => test.mutate(id)}>
            {t("testAgain")}
          </Button>
          <Button onClick={onClose}>{shell("close")}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const DrainDialog = ({
  id,
  isOpen,
  onClose
}: {
  readonly id: string
  readonly isOpen: boolean
  readonly onClose: () => void
}) => {
  const { t } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const drain = useApiMutation(
    (channel: string) => (gateway) => gateway.channels.drainChannel({ params: { id: channel } }),
    [["channels"], ["catalog"]]
  )
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t("drainTitle", { id })}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <Stack>
        <Text size="sm">{t("drainLead")}</Text>
        {drain.isError ? <FailureNote error={drain.error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {shell("cancel")}
          </Button>
          <Button
            color="red"
            loading={drain.isPending}
            onClick={() =>
              drain.mutate(id, {
                onSuccess: () => {
                  onClose()
                  notifications.show({ message: t("drained", { id }) })
                }
              })
            }
          >
            {t("drain")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

export const ChannelActions = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const { session } = useSession()
  // The row may show another channel after the list was refreshed, so the open dialog keeps the
  // channel's id.
  const [open, setOpen] = useState({ is: "none", id: channel.id })
  const enable = useApiMutation(
    (id: string) => (gateway) => gateway.channels.enableChannel({ params: { id } }),
    [["channels"], ["catalog"]]
  )
  const { id, name, state, keys, model_rests, slowed_organizations } = channel
  // A channel that was removed from the catalog has no actions: only its open tasks remain.
  if (!hasRole(session, "operator") || name === null) return null
  const isServing =
    state === "closed" &&
    model_rests.length + slowed_organizations.length === 0 &&
    keys.every((key) => key.rest === null)
  const close = (): void => setOpen({ ...open, is: "none" })
  return (
    <Stack gap="xs" align="flex-start">
      <Group gap={4} wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t("testOf", { id })}
          onClick={() => setOpen({ is: "test", id })}
        >
          {t("test")}
        </Button>
        {state === "draining" ? null : (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t("drainOf", { id })}
            onClick={() => setOpen({ is: "drain", id })}
          >
            {t("drain")}
          </Button>
        )}
        {isServing ? null : (
          <Button
            size="compact-sm"
            variant="default"
            loading={enable.isPending}
            aria-label={t("enableOf", { id })}
            onClick={() =>
              enable.mutate(id, {
                onSuccess: () => notifications.show({ message: t("enabled", { id }) })
              })
            }
          >
            {t("enable")}
          </Button>
        )}
      </Group>
      {enable.isError ? <FailureNote error={enable.error} /> : null}
      <TestDialog id={open.id} isOpen={open.is === "test"} onClose={close} />
      <DrainDialog id={open.id} isOpen={open.is === "drain"} onClose={close} />
    </Stack>
  )
}

/** A form for an endpoint: its name, its URL and its event types. */
import { Checkbox, Stack, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useTranslation } from "react-i18next"
import type { EventType } from "../../../domain/webhookEvents.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { matchOption } from "../../parts/controls/addressFields.tsx"
import type { Endpoint, EndpointForm } from "./hookCalls.ts"

/** The keys of the events in the texts; event names themselves contain dots. */
const eventNames = {
  "video.completed": "videoCompleted",
  "video.failed": "videoFailed",
  "image.completed": "imageCompleted",
  "image.failed": "imageFailed",
  "speech.completed": "speechCompleted",
  "speech.failed": "speechFailed",
  "balance.low": "balanceLow",
  "cap.reached": "capReached",
  "budget.threshold": "budgetThreshold",
  "channel.down": "channelDown",
  "channel.up": "channelUp",
  "orphan.created": "orphanCreated",
  "ledger.violation": "ledgerViolation"
} as const satisfies Record<EventType, string>

interface Props {
  readonly title: string
  readonly action: string
  readonly events: ReadonlyArray<EventType>
  /** The endpoint before the change; left out for a new one. */
  readonly endpoint?: Endpoint
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (form: EndpointForm) => void
  readonly onClose: () => void
}

export const EndpointDialog = (props: Props) => {
  const { title, action, events, endpoint, mutation, onSubmit, onClose } = props
  const { t } = useTranslation("webhooks")
  const form = useForm<{ name: string; url: string; types: Array<string> }>({
    initialValues: {
      name: endpoint?.name ?? "",
      url: endpoint?.url ?? "",
      types: [...(endpoint?.event_types ?? events)]
    },
    validate: {
      name: (text) => (text.trim() === "" ? t("nameNeeded") : null),
      url: (text) => (/^https?:\/\/./.test(text.trim()) ? null : t("urlNeeded")),
      types: (types) => (types.length === 0 ? t("eventsNeeded") : null)
    }
  })
  const submit = form.onSubmit(({ name, url, types }) =>
    onSubmit({
      name: name.trim(),
      url: url.trim(),
      event_types: types.flatMap((type) => matchOption(type, events) ?? [])
    })
  )
  return (
    <ActionDialog
      title={title}
      action={action}
      mutation={mutation}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput label={t("name")} data-autofocus {...form.getInputProps("name")} />
      <TextInput
        label={t("url")}
        description={t("urlHint")}
        type="url"
        {...form.getInputProps("url")}
      />
      <Checkbox.Group label={t("events")} {...form.getInputProps("types")}>
        <Stack gap="xs" mt="xs">
          {events.map((event) => (
            <Checkbox
              key={event}
              value={event}
              label={event}
              description={t(`told.${eventNames[event]}`)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </ActionDialog>
  )
}

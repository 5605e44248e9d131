/**
 * An orphan: an order whose vendor may have completed a job that nobody paid for or received, and
 * the note that resolves it.
 */
import { Button, Stack, Text, Textarea } from "@mantine/core"
import { useForm } from "@mantine/form"
import { notifications } from "@mantine/notifications"
import { useTranslation } from "react-i18next"
import type { OrphanView } from "../../../../features/history/HistoryApi.ts"
import { useApiMutation, useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { OrphanReason } from "../../../parts/OrphanReason.tsx"
import { Amount, Id, Timestamp } from "../../../parts/texts.tsx"
import { Facts, Section } from "./orderFrame.tsx"

const LONGEST = 500

const ResolveOrphan = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("orders")
  const resolve = useApiMutation(
    (note: string) => (gateway) =>
      gateway.history.resolveOrphan({ params: { id }, payload: { note } }),
    [["orders"], ["orphans"]]
  )
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { note: "" },
    validate: { note: (note) => (note.trim() === "" ? t("orphan.noteEmpty") : null) }
  })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ note }) =>
        // The success is also shown as a notification, because the form may be gone by then.
        resolve.mutateAsync(note.trim()).then(
          () => void notifications.show({ message: t("orphan.done") }),
          () => undefined
        )
      )}
    >
      <Stack align="flex-start">
        <Textarea
          label={t("orphan.note")}
          description={t("orphan.noteHint")}
          maxLength={LONGEST}
          autosize
          minRows={2}
          w="100%"
          key={form.key("note")}
          {...form.getInputProps("note")}
        />
        {resolve.isError ? <FailureNote error={resolve.error} /> : null}
        <Button type="submit" loading={resolve.isPending}>
          {t("orphan.resolve")}
        </Button>
      </Stack>
    </form>
  )
}

export const OrphanCase = ({ orphan }: { readonly orphan: typeof OrphanView.Type }) => {
  const { t } = useTranslation("orders")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const { answer, resolved_at } = orphan
  return (
    <Section label={t("orphan.label")}>
      <Facts
        label={t("orphan.label")}
        facts={{
          [t("orphan.reason")]: <OrphanReason reason={orphan.reason} />,
          [t("orphan.held")]: <Amount value={orphan.amount_held} />,
          [t("orphan.charge")]:
            orphan.charge === null ? t("orphan.returned") : <Amount value={orphan.charge} />,
          [t("orphan.answer")]:
            answer === null
              ? null
              : t("orphan.answered", { status: answer.status, bytes: answer.bytes }),
          [t("orphan.sha")]:
            answer === null || answer.sha256 === null ? null : <Id id={answer.sha256} />,
          [t("orphan.resolved")]: resolved_at === null ? null : <Timestamp at={resolved_at} />,
          [t("orphan.note")]: orphan.note
        }}
      />
      {resolved_at !== null ? null : hasRole(session, "operator", "finance") ? (
        <ResolveOrphan id={orphan.id} />
      ) : (
        <Text size="sm">{shell("noRight")}</Text>
      )}
    </Section>
  )
}

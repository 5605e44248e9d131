/** The low-balance alert of an organisation. */
import { Button, Card, Group, Stack, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { notifications } from "@mantine/notifications"
import { useTranslation } from "react-i18next"
import type { OrganizationView } from "../../../../features/accounts/AccountsApi.ts"
import { useApiMutation } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { typedNano } from "../../../parts/money/amountFields.ts"

type Organization = typeof OrganizationView.Type

export const LowBalance = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { id, low_balance, currency } = organization
  const form = useForm({
    initialValues: { threshold: low_balance ?? "" },
    validate: {
      threshold: (text) =>
        text.trim() === "" || typedNano(text) !== null ? null : t("form.noAmountOrZero")
    }
  })
  const save = useApiMutation(
    ({ threshold }: typeof form.values) =>
      (gateway) =>
        gateway.admin.setLowBalance({
          params: { id },
          payload: { threshold: threshold.trim() === "" ? null : typedNano(threshold) }
        }),
    [["books", id], ["organizations"]]
  )
  return (
    <Card
      component="form"
      withBorder
      p="sm"
      onSubmit={form.onSubmit((values) =>
        save.mutate(values, { onSuccess: () => notifications.show({ message: t("low.done") }) })
      )}
      noValidate
    >
      <Stack gap="xs">
        <TextInput
          label={t("low.label", { currency })}
          description={t("low.note")}
          inputMode="decimal"
          maw={420}
          {...form.getInputProps("threshold")}
        />
        {save.error === null ? null : <FailureNote error={save.error} />}
        <Group>
          <Button type="submit" variant="default" size="xs" loading={save.isPending}>
            {shell("save")}
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

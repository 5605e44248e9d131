/**
 * A dialog for an organisation's credit: how far below zero its balance may go through orders of
 * unknown size, or through holds as well.
 */
import { Checkbox, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useTranslation } from "react-i18next"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { typedNano } from "../../parts/money/amountFields.ts"

interface Props {
  readonly credit: string
  readonly holdsOnCredit: boolean
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (change: {
    readonly credit: bigint
    readonly holds_on_credit: boolean
  }) => void
  readonly onClose: () => void
}

export const CreditDialog = ({ credit, holdsOnCredit, mutation, onSubmit, onClose }: Props) => {
  const { t } = useTranslation("accounts")
  const form = useForm({
    initialValues: { credit, holdsOnCredit },
    validate: { credit: (text) => (typedNano(text) === null ? t("amountNeeded") : null) }
  })
  return (
    <ActionDialog
      title={t("setCredit")}
      action={t("save")}
      mutation={mutation}
      onSubmit={form.onSubmit((values) =>
        onSubmit({ credit: typedNano(values.credit) ?? 0n, holds_on_credit: values.holdsOnCredit })
      )}
      onClose={onClose}
    >
      <TextInput
        label={t("credit")}
        description={t("creditHint")}
        inputMode="decimal"
        data-autofocus
        {...form.getInputProps("credit")}
      />
      <Checkbox
        label={t("holdsOnCredit")}
        description={t("holdsOnCreditHint")}
        {...form.getInputProps("holdsOnCredit", { type: "checkbox" })}
      />
    </ActionDialog>
  )
}

/** A form for a name, and for a member also its monthly cap. */
import { TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { Option, Schema } from "effect"
import { useTranslation } from "react-i18next"
import { Amount } from "../../../domain/money/Money.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"

export interface NameForm {
  readonly name: string
  /** The monthly cap; null where there is none. */
  readonly cap: bigint | null
}

interface Props {
  readonly title: string
  readonly action: string
  readonly name?: string
  /** The initial cap, empty for none. Without this property the form has no field for a cap. */
  readonly cap?: string
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (form: NameForm) => void
  readonly onClose: () => void
}

const amountOf = Schema.decodeUnknownOption(Amount)

export const NameDialog = ({
  title,
  action,
  name = "",
  cap,
  mutation,
  onSubmit,
  onClose
}: Props) => {
  const { t } = useTranslation("accounts")
  const form = useForm({
    initialValues: { name, cap: cap ?? "" },
    validate: {
      name: (text) => (text.trim() === "" ? t("nameNeeded") : null),
      cap: (text) =>
        text.trim() === "" || Option.isSome(amountOf(text.trim())) ? null : t("amountNeeded")
    }
  })
  const submit = form.onSubmit((values) =>
    onSubmit({ name: values.name.trim(), cap: Option.getOrNull(amountOf(values.cap.trim())) })
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
      {cap === undefined ? null : (
        <TextInput
          label={t("cap")}
          description={t("capHint")}
          inputMode="decimal"
          {...form.getInputProps("cap")}
        />
      )}
    </ActionDialog>
  )
}

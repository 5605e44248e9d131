/** Forms by which an operator moves money: deposits, and adjustments of a balance. */
import { Button, Group, Modal, Select, Stack, Text, Textarea, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { type AdjustmentKind, adjustmentKinds } from "../../../../domain/money/transfers.ts"
import { useApiMutation } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { isPositive, newReference, typedNano } from "../../../parts/money/amountFields.ts"
import { groupDigits } from "../../../parts/texts.tsx"

interface DialogProps {
  readonly organizationId: string
  readonly currency: string
  readonly onClose: () => void
}

/**
 * The cache keys of everything that depends on the organisation's money, which is fetched again.
 */
const moneyKeys = (organizationId: string) => [
  ["books", organizationId],
  ["organizations"],
  ["books", "all"]
]

const Buttons = ({
  label,
  isBusy,
  onClose
}: {
  readonly label: string
  readonly isBusy: boolean
  readonly onClose: () => void
}) => {
  const { t } = useTranslation()
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose}>
        {t("cancel")}
      </Button>
      <Button type="submit" loading={isBusy}>
        {label}
      </Button>
    </Group>
  )
}

const useProblems = () => {
  const { t } = useTranslation("books")
  return {
    amount: (text: string) => (isPositive(text) ? null : t("form.noAmount")),
    needed: (text: string) => (text.trim() === "" ? t("form.needed") : null)
  }
}

const DepositForm = ({ organizationId, currency, onClose }: DialogProps) => {
  const { t } = useTranslation("books")
  const { amount, needed } = useProblems()
  const form = useForm({
    initialValues: { amount: "", reference: newReference() },
    validate: { amount, reference: needed }
  })
  const deposit = useApiMutation(
    (values: typeof form.values) => (gateway) =>
      gateway.admin.deposit({
        params: { id: organizationId },
        payload: { amount: typedNano(values.amount) ?? 0n, reference: values.reference.trim() }
      }),
    moneyKeys(organizationId)
  )
  const send = (values: typeof form.values) =>
    deposit.mutate(values, {
      onSuccess: ({ applied, balance }) => {
        const sums = { balance: groupDigits(balance), currency }
        notifications.show({ message: applied ? t("deposit.done", sums) : t("form.before", sums) })
        onClose()
      }
    })
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack>
        <TextInput
          label={t("form.amount", { currency })}
          inputMode="decimal"
          data-autofocus
          {...form.getInputProps("amount")}
        />
        <TextInput
          label={t("form.reference")}
          description={t("form.referenceNote")}
          {...form.getInputProps("reference")}
        />
        {deposit.error === null ? null : <FailureNote error={deposit.error} />}
        <Buttons label={t("deposit.go")} isBusy={deposit.isPending} onClose={onClose} />
      </Stack>
    </form>
  )
}

interface AdjustmentProps extends DialogProps {
  /** The charge that is corrected, where the form is opened from a charge. */
  readonly usageId?: string | undefined
}

const AdjustmentForm = ({ organizationId, currency, onClose, usageId = "" }: AdjustmentProps) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const { amount, needed } = useProblems()
  const initial: {
    kind: AdjustmentKind
    amount: string
    reason: string
    reference: string
    usageId: string
  } = {
    kind: usageId === "" ? "credit" : "correction",
    amount: "",
    reason: "",
    reference: newReference(),
    usageId
  }
  const form = useForm({
    initialValues: initial,
    validate: {
      amount,
      reason: needed,
      reference: needed,
      usageId: (text, { kind }) => (kind === "correction" ? needed(text) : null)
    }
  })
  const adjust = useApiMutation(
    (values: typeof initial) => (gateway) =>
      gateway.money.adjust({
        params: { id: organizationId },
        payload: {
          kind: values.kind,
          amount: typedNano(values.amount) ?? 0n,
          reason: values.reason.trim(),
          reference: values.reference.trim(),
          ...(values.kind === "correction" ? { usage_id: values.usageId.trim() } : {})
        }
      }),
    moneyKeys(organizationId)
  )
  const send = (values: typeof initial) =>
    adjust.mutate(values, {
      onSuccess: ({ applied, balance }) => {
        const sums = { balance: groupDigits(balance), currency }
        notifications.show({ message: applied ? t("adjust.done", sums) : t("form.before", sums) })
        onClose()
      }
    })
  const { kind } = form.values
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack>
        <Select<AdjustmentKind>
          label={t("adjust.kind")}
          description={t(`adjust.notes.${kind}`)}
          allowDeselect={false}
          data={adjustmentKinds.map((value) => ({ value, label: money(`kinds.${value}`) }))}
          {...form.getInputProps("kind")}
        />
        {kind === "correction" ? (
          <TextInput
            label={t("adjust.usage")}
            placeholder="us_…"
            {...form.getInputProps("usageId")}
          />
        ) : null}
        <TextInput
          label={t("form.amount", { currency })}
          inputMode="decimal"
          data-autofocus
          {...form.getInputProps("amount")}
        />
        <Textarea
          label={t("adjust.reason")}
          description={t("adjust.reasonNote")}
          autosize
          {...form.getInputProps("reason")}
        />
        <TextInput
          label={t("form.reference")}
          description={t("form.referenceNote")}
          {...form.getInputProps("reference")}
        />
        <Text size="sm" c="dimmed">
          {t("adjust.never")}
        </Text>
        {adjust.error === null ? null : <FailureNote error={adjust.error} />}
        <Buttons label={t("adjust.go")} isBusy={adjust.isPending} onClose={onClose} />
      </Stack>
    </form>
  )
}

interface ButtonProps {
  readonly organizationId: string
  readonly currency: string
}

/** A button that opens the form. Each opening has a new reference. */
export const DepositButton = (props: ButtonProps) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const [isOpen, setIsOpen] = useState(false)
  const close = () => setIsOpen(false)
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t("deposit.open")}</Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t("deposit.open")}
        closeButtonProps={{ "aria-label": shell("close") }}
      >
        <DepositForm {...props} onClose={close} />
      </Modal>
    </>
  )
}

export const AdjustmentButton = ({
  usageId,
  label,
  ...props
}: ButtonProps & { readonly usageId?: string; readonly label: string }) => {
  const { t: shell } = useTranslation()
  const [isOpen, setIsOpen] = useState(false)
  const close = () => setIsOpen(false)
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={label}
        closeButtonProps={{ "aria-label": shell("close") }}
      >
        <AdjustmentForm {...props} usageId={usageId} onClose={close} />
      </Modal>
    </>
  )
}

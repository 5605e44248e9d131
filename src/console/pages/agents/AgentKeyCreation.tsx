/**
 * Creates a key for an agent together with its budget, and shows the key once, in the settings of
 * the programs that use it.
 */
import { Group, Select, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { budgetPeriods, usualThresholds } from "../../../domain/money/budgets.ts"
import { useApiMutation } from "../../gateway/hooks.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { isPositive, typedNano } from "../../parts/money/amountFields.ts"
import { keysKey } from "../customers/accountKeys.ts"
import { KeyDialog, type KeyForm } from "../customers/KeyDialog.tsx"
import { SubjectSelect } from "../customers/SubjectSelect.tsx"
import { AgentSnippets } from "./AgentSnippets.tsx"

type Period = (typeof budgetPeriods)[number]

interface Props {
  /** The organisation that is chosen at first; empty for none. */
  readonly organizationId: string
  /** Called with the organisation of the new key. */
  readonly onCreate: (organizationId: string) => void
  readonly onClose: () => void
}

export const AgentKeyCreation = ({ organizationId, onCreate, onClose }: Props) => {
  const { t } = useTranslation("agents")
  const { t: accounts } = useTranslation("accounts")
  const { t: books } = useTranslation("books")
  const [ownerId, setOwner] = useState(organizationId)
  const [memberId, setMember] = useState("")
  const [amount, setAmount] = useState("")
  const [period, setPeriod] = useState<Period>("total")
  const [isSubmitted, setSubmitted] = useState(false)
  const create = useApiMutation(
    (form: KeyForm) => (gateway) =>
      gateway.admin.createKey({
        params: { id: memberId },
        payload: {
          ...form,
          budget: { amount: typedNano(amount) ?? 0n, period, thresholds: usualThresholds }
        }
      }),
    [keysKey, ["books"], ["budgets"]]
  )
  if (create.isSuccess) {
    return (
      <SecretDialog
        title={accounts("keyMade", { name: create.variables.name })}
        label={accounts("key")}
        secret={create.data.key}
        onConfirm={onClose}
      >
        <AgentSnippets apiKey={create.data.key} />
      </SecretDialog>
    )
  }
  const isComplete = ownerId !== "" && memberId !== "" && isPositive(amount)
  const missing = (id: string) => (isSubmitted && id === "" ? books("form.needed") : null)
  return (
    <KeyDialog
      title={t("newKey")}
      action={accounts("create")}
      mutation={create}
      onSubmit={(form) => {
        setSubmitted(true)
        if (isComplete) create.mutate(form, { onSuccess: () => onCreate(ownerId) })
      }}
      onClose={onClose}
    >
      <SubjectSelect
        of="organization"
        organizationId={null}
        value={ownerId}
        error={missing(ownerId)}
        onChange={(id) => {
          setOwner(id)
          setMember("")
        }}
      />
      {ownerId === "" ? null : (
        <SubjectSelect
          key={ownerId}
          of="member"
          organizationId={ownerId}
          value={memberId}
          error={missing(memberId)}
          onChange={setMember}
        />
      )}
      <Group grow align="flex-start">
        <TextInput
          label={t("budget")}
          description={t("budgetHint")}
          inputMode="decimal"
          value={amount}
          error={isSubmitted && !isPositive(amount) ? books("form.noAmount") : null}
          onChange={(event) => setAmount(event.currentTarget.value)}
        />
        <Select<Period>
          label={books("budgets.period")}
          description={t("periodHint")}
          allowDeselect={false}
          data={budgetPeriods.map((value) => ({ value, label: books(`budgets.periods.${value}`) }))}
          value={period}
          onChange={(value) => setPeriod(value ?? period)}
        />
      </Group>
    </KeyDialog>
  )
}

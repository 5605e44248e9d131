/** A form that creates or changes a budget or a member's cap. */
import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core"
import { type UseFormReturnType, useForm } from "@mantine/form"
import { useTranslation } from "react-i18next"
import { budgetPeriods, usualThresholds } from "../../../../domain/money/budgets.ts"
import type { BudgetView } from "../../../../http/api/admin/budgets.ts"
import type { ApiCall } from "../../../gateway/client.ts"
import { useApiMutation, useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { typedNano } from "../../../parts/money/amountFields.ts"
import { SubjectSelect } from "../SubjectSelect.tsx"

const scopes = ["organization", "member", "key", "cap"] as const
type Scope = (typeof scopes)[number]
type Period = (typeof budgetPeriods)[number]

const MOST_PERCENT = 1000

/** Whole percentages, with any separators; null where the text contains anything else. */
const percentsOf = (text: string): ReadonlyArray<number> | null => {
  const parts = text.split(/[\s,;%，、]+/).filter((part) => part !== "")
  const numbers = parts.map(Number)
  return numbers.every(
    (percent) => Number.isInteger(percent) && percent >= 1 && percent <= MOST_PERCENT
  )
    ? numbers
    : null
}

interface Props {
  readonly organizationId: string
  readonly currency: string
  /** The budget that is changed; null for a new budget. */
  readonly budget: BudgetView | null
  readonly onClose: () => void
}

interface Values {
  readonly scope: Scope
  readonly subject: string
  readonly period: Period
  readonly amount: string
  readonly thresholds: string
}

/** The initial values of the form; a new budget starts with the given scope. */
const valuesOf = (budget: BudgetView | null, scope: Scope): Values =>
  budget === null
    ? { scope, subject: "", period: "month", amount: "", thresholds: usualThresholds.join(", ") }
    : {
        scope: budget.is_member_cap ? "cap" : budget.scope,
        subject: budget.subject_id ?? "",
        period: budget.period,
        amount: budget.amount,
        thresholds: budget.thresholds.join(", ")
      }

const saveBudget =
  (id: string, budget: BudgetView | null, values: Values): ApiCall<unknown> =>
  (gateway) => {
    const { scope, subject, period } = values
    const amount = typedNano(values.amount) ?? 0n
    const thresholds = percentsOf(values.thresholds) ?? []
    if (scope === "cap") {
      return gateway.accounts.changeMember({
        params: { id: subject },
        payload: { monthly_cap: amount }
      })
    }
    if (budget !== null) {
      return gateway.budgets.changeBudget({
        params: { id, budget_id: budget.id },
        payload: { amount, thresholds }
      })
    }
    return gateway.budgets.createBudget({
      params: { id },
      payload: {
        scope,
        period,
        amount,
        thresholds,
        ...(scope === "organization" ? {} : { subject_id: subject })
      }
    })
  }

/** The fields that cannot be changed later: the subject of the budget, and its period. */
const NewBudgetFields = ({
  organizationId,
  scopes: offeredScopes,
  form
}: {
  readonly organizationId: string
  readonly scopes: ReadonlyArray<Scope>
  readonly form: UseFormReturnType<Values>
}) => {
  const { t } = useTranslation("books")
  const { scope } = form.values
  return (
    <>
      <Select<Scope>
        label={t("budgets.scope")}
        allowDeselect={false}
        data={offeredScopes.map((value) => ({ value, label: t(`budgets.scopes.${value}`) }))}
        {...form.getInputProps("scope")}
        onChange={(value) => {
          if (value !== null) form.setValues({ scope: value, subject: "" })
        }}
      />
      {scope === "organization" ? null : (
        <SubjectSelect
          key={scope}
          organizationId={organizationId}
          of={scope === "key" ? "key" : "member"}
          value={form.values.subject}
          error={form.errors.subject}
          onChange={(id) => form.setFieldValue("subject", id)}
        />
      )}
      {scope === "cap" ? null : (
        <Select<Period>
          label={t("budgets.period")}
          allowDeselect={false}
          data={budgetPeriods.map((value) => ({ value, label: t(`budgets.periods.${value}`) }))}
          {...form.getInputProps("period")}
        />
      )}
    </>
  )
}

const Form = ({ organizationId, currency, budget, onClose }: Props) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const offeredScopes = scopes.filter((scope) =>
    scope === "cap" ? hasRole(session, "operator", "finance") : hasRole(session, "finance")
  )
  const form = useForm({
    initialValues: valuesOf(budget, offeredScopes[0] ?? "cap"),
    validate: {
      amount: (text) => (typedNano(text) === null ? t("form.noAmountOrZero") : null),
      subject: (text, { scope }) =>
        scope !== "organization" && text === "" ? t("form.needed") : null,
      thresholds: (text, { scope }) =>
        scope === "cap" || percentsOf(text) !== null ? null : t("budgets.noPercents")
    }
  })
  const save = useApiMutation(
    (values: Values) => saveBudget(organizationId, budget, values),
    [["books", organizationId], ["members"], ["budgets"]]
  )
  const { scope } = form.values
  return (
    <form
      onSubmit={form.onSubmit((values) => save.mutate(values, { onSuccess: onClose }))}
      noValidate
    >
      <Stack>
        {budget === null ? (
          <NewBudgetFields organizationId={organizationId} scopes={offeredScopes} form={form} />
        ) : null}
        <TextInput
          label={t("form.amount", { currency })}
          inputMode="decimal"
          data-autofocus
          {...form.getInputProps("amount")}
        />
        {scope === "cap" ? null : (
          <TextInput
            label={t("budgets.thresholds")}
            description={t("budgets.thresholdsNote")}
            {...form.getInputProps("thresholds")}
          />
        )}
        {save.error === null ? null : <FailureNote error={save.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {shell("cancel")}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {shell("save")}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export const BudgetModal = ({
  isOpen,
  title,
  ...props
}: Props & { readonly isOpen: boolean; readonly title: string }) => {
  const { t: shell } = useTranslation()
  return (
    <Modal
      opened={isOpen}
      onClose={props.onClose}
      title={title}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <Form {...props} />
    </Modal>
  )
}

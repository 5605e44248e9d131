/** The budgets of an organisation, its members and its keys, with the remaining amounts. */
import { Badge, Button, Card, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core"
import type { Effect } from "effect"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { BudgetView } from "../../../../http/api/admin/budgets.ts"
import { useApiMutation, usePages, useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { ConfirmDialog } from "../../../parts/money/ConfirmDialog.tsx"
import { SpendBar } from "../../../parts/money/SpendBar.tsx"
import { useNames } from "../../../parts/money/useNames.ts"
import { Amount, Id, Timestamp } from "../../../parts/texts.tsx"
import { BudgetModal } from "./BudgetForm.tsx"

interface Props {
  readonly id: string
  readonly currency: string
}

const useTitle = (id: string) => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const names = useNames(id)
  return ({ scope, subject_id, period, is_member_cap }: BudgetView): string => {
    const name = names.get(subject_id)
    const subject =
      scope === "organization"
        ? t("budgets.scopes.organization")
        : `${money(`spend.groups.${scope}`)}${name === undefined ? "" : ` ${name}`}`
    return `${subject} · ${is_member_cap ? t("budgets.cap") : t(`budgets.periods.${period}`)}`
  }
}

const State = ({ budget }: { readonly budget: BudgetView }) => {
  const { t } = useTranslation("books")
  if (budget.exceeded)
    return (
      <Badge className="state" color="red.9" tt="none">
        {t("budgets.exceeded")}
      </Badge>
    )
  return budget.available === "0" ? (
    <Badge className="state" color="red.9" tt="none">
      {t("budgets.reached")}
    </Badge>
  ) : null
}

const BudgetCard = ({
  budget,
  title,
  currency,
  onChange,
  onRemove
}: {
  readonly budget: BudgetView
  readonly title: string
  readonly currency: string
  readonly onChange: () => void
  readonly onRemove: () => void
}) => {
  const { t } = useTranslation("books")
  const { session } = useSession()
  const isAllowed = budget.is_member_cap
    ? hasRole(session, "operator", "finance")
    : hasRole(session, "finance")
  return (
    <Card withBorder p="sm" component="section" aria-label={title}>
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={4} size="h5">
            {title}
          </Title>
          <State budget={budget} />
        </Group>
        {budget.scope === "organization" ? null : <Id id={budget.subject_id} />}
        <SpendBar
          label={title}
          amount={budget.amount}
          charged={budget.charged}
          held={budget.held}
          currency={currency}
        />
        <Text size="sm">
          {t("budgets.left")} <Amount value={budget.available} currency={currency} />
        </Text>
        {budget.exceeded || budget.available === "0" ? (
          <Text size="sm">{t("budgets.refused")}</Text>
        ) : null}
        <Text size="sm" c="dimmed">
          {budget.thresholds.length === 0
            ? t("budgets.untold")
            : t("budgets.told", {
                percents: budget.thresholds.map((threshold) => `${threshold} %`).join(", ")
              })}
        </Text>
        {budget.resets_at === null ? null : (
          <Text size="sm" c="dimmed">
            {t("budgets.resets")} <Timestamp at={budget.resets_at} />
          </Text>
        )}
        {isAllowed ? (
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              onClick={onChange}
              aria-label={`${t("budgets.change")}: ${title}`}
            >
              {t("budgets.change")}
            </Button>
            <Button
              size="xs"
              variant="default"
              onClick={onRemove}
              aria-label={`${t("budgets.remove")}: ${title}`}
            >
              {t("budgets.remove")}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Card>
  )
}

type Dialog = { readonly kind: "form" | "remove"; readonly budget: BudgetView | null } | null

const useRemoval = (id: string) =>
  useApiMutation(
    (budget: BudgetView) =>
      (gateway): Effect.Effect<unknown, unknown> =>
        budget.is_member_cap
          ? gateway.accounts.changeMember({
              params: { id: budget.subject_id },
              payload: { monthly_cap: null }
            })
          : gateway.budgets.removeBudget({ params: { id, budget_id: budget.id } }),
    [["books", id], ["members"], ["budgets"]]
  )

const REFRESH_MILLIS = 15_000

export const Budgets = ({ id, currency }: Props) => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const titleOf = useTitle(id)
  const [dialog, setDialog] = useState<Dialog>(null)
  const removal = useRemoval(id)
  const budgets = usePages(
    ["books", id, "budgets"],
    (after) => (gateway) =>
      gateway.budgets.listBudgets({ params: { id }, query: { ...after, limit: 50 } }),
    { intervalMillis: REFRESH_MILLIS }
  )
  const all = budgets.data?.pages.flatMap(({ data }) => data) ?? []
  const close = () => {
    setDialog(null)
    removal.reset()
  }
  const budgetToRemove = dialog?.kind === "remove" ? dialog.budget : null
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed">{t("budgets.lead")}</Text>
        {hasRole(session, "operator", "finance") ? (
          <Button onClick={() => setDialog({ kind: "form", budget: null })}>
            {t("budgets.create")}
          </Button>
        ) : null}
      </Group>
      {budgets.isError ? (
        <FailureNote error={budgets.error} onRetry={() => void budgets.refetch()} />
      ) : null}
      {budgets.isPending ? <Text role="status">{shell("loading")}</Text> : null}
      {budgets.isSuccess && all.length === 0 ? (
        <Text c="dimmed" ta="center" py="lg">
          {t("budgets.none")}
        </Text>
      ) : null}
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        {all.map((budget) => (
          <BudgetCard
            key={budget.id}
            budget={budget}
            title={titleOf(budget)}
            currency={currency}
            onChange={() => setDialog({ kind: "form", budget })}
            onRemove={() => setDialog({ kind: "remove", budget })}
          />
        ))}
      </SimpleGrid>
      {budgets.hasNextPage ? (
        <Button
          variant="default"
          loading={budgets.isFetchingNextPage}
          onClick={() => void budgets.fetchNextPage()}
        >
          {shell("more")}
        </Button>
      ) : null}
      <BudgetModal
        isOpen={dialog?.kind === "form"}
        title={
          dialog === null || dialog.budget === null
            ? t("budgets.create")
            : `${t("budgets.change")}: ${titleOf(dialog.budget)}`
        }
        organizationId={id}
        currency={currency}
        budget={dialog?.budget ?? null}
        onClose={close}
      />
      <ConfirmDialog
        isOpen={budgetToRemove !== null}
        title={budgetToRemove === null ? "" : titleOf(budgetToRemove)}
        text={t("budgets.removeText")}
        action={t("budgets.remove")}
        isBusy={removal.isPending}
        error={removal.error}
        onConfirm={() => {
          if (budgetToRemove !== null) removal.mutate(budgetToRemove, { onSuccess: close })
        }}
        onClose={close}
      />
    </Stack>
  )
}

/** The keys of an organisation that have budgets of their own, with what is left of each. */
import { Button, Card, Group, Stack, Text, Title } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import { useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { useAddressValue } from "../../parts/controls/addressFields.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { keysKey } from "../customers/accountKeys.ts"
import { SubjectSelect } from "../customers/SubjectSelect.tsx"
import { AgentKeyCreation } from "./AgentKeyCreation.tsx"
import { BudgetTable } from "./BudgetTable.tsx"

const REFRESH_MILLIS = 15_000
const MAX_KEYS = 100

/** The valid keys with a budget of their own, as far as the first page of each list has them. */
const useKeyBudgets = (organizationId: string) =>
  useApiQuery(
    [...keysKey, organizationId, "budgets"],
    (gateway) =>
      Effect.map(
        Effect.all([
          gateway.accounts.readOrganization({ params: { id: organizationId } }),
          gateway.accounts.listKeys({
            query: {
              organization_id: organizationId,
              state: "valid",
              totals: "false",
              limit: MAX_KEYS
            }
          }),
          gateway.budgets.listBudgets({
            params: { id: organizationId },
            query: { limit: MAX_KEYS }
          })
        ]),
        ([{ currency }, keys, budgets]) => {
          const names = new Map(keys.data.map(({ id, name }) => [id, name]))
          return {
            currency,
            budgets: budgets.data.flatMap((budget) => {
              const keyName = budget.scope === "key" ? names.get(budget.subject_id) : undefined
              return keyName === undefined ? [] : [{ ...budget, keyName }]
            })
          }
        }
      ),
    { intervalMillis: REFRESH_MILLIS }
  )

const KeyBudgets = ({ organizationId }: { readonly organizationId: string }) => {
  const { t } = useTranslation("agents")
  const { t: books } = useTranslation("books")
  const keys = useKeyBudgets(organizationId)
  return (
    <QueryView query={keys}>
      {({ currency, budgets }) => (
        <BudgetTable
          label={t("agentKeys")}
          titleLabel={t("key")}
          currency={currency}
          empty={t("noAgentKeys")}
          rows={budgets.map((budget) => ({
            ...budget,
            title: `${budget.keyName} · ${books(`budgets.periods.${budget.period}`)}`
          }))}
        />
      )}
    </QueryView>
  )
}

export const AgentKeys = () => {
  const { t } = useTranslation("agents")
  const { session } = useSession()
  const [organizationId, setOrganization] = useAddressValue("organization")
  const [isCreating, { open, close }] = useDisclosure(false)
  return (
    <Card withBorder p="md" component="section" aria-label={t("agentKeys")}>
      <Stack>
        <Group justify="space-between">
          <Title order={2} size="h4">
            {t("agentKeys")}
          </Title>
          {hasRole(session, "operator") ? <Button onClick={open}>{t("newKey")}</Button> : null}
        </Group>
        <Text size="sm" c="dimmed">
          {t("agentKeysLead")}
        </Text>
        <SubjectSelect
          of="organization"
          organizationId={null}
          value={organizationId}
          error={null}
          onChange={(id) => setOrganization(id === "" ? null : id)}
        />
        {organizationId === "" ? null : <KeyBudgets organizationId={organizationId} />}
      </Stack>
      {isCreating ? (
        <AgentKeyCreation
          organizationId={organizationId}
          onCreate={setOrganization}
          onClose={close}
        />
      ) : null}
    </Card>
  )
}

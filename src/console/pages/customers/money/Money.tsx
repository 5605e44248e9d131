/** The money of one organisation; each inner tab has its own address. */
import { Group, Stack } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Route, Switch } from "wouter"
import { useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { PageTabs } from "../../../parts/controls/PageTabs.tsx"
import { SpendSeries } from "../../../parts/money/SpendSeries.tsx"
import { useNames } from "../../../parts/money/useNames.ts"
import { BalanceOverTime } from "./BalanceOverTime.tsx"
import { AdjustmentButton, DepositButton } from "./TransferForms.tsx"
import { Charges, Transfers } from "./TransferLists.tsx"

interface Props {
  readonly id: string
  readonly currency: string
}

const Spend = ({ id }: { readonly id: string }) => {
  const names = useNames(id)
  return (
    <SpendSeries
      area={["books", id]}
      groups={["model", "modality", "member", "key", "channel", "tag"]}
      call={(query) => (gateway) =>
        gateway.usageSums.readSeries({ query: { ...query, organization_id: id } })
      }
      nameOf={(_, name) => names.get(name) ?? name}
    />
  )
}

export const Money = ({ id, currency }: Props) => {
  const { t } = useTranslation("books")
  const { session } = useSession()
  return (
    <Stack>
      <Group justify="space-between">
        <PageTabs
          label={t("tabs.money")}
          isInner
          tabs={[
            { path: "/", label: t("tabs.pool") },
            { path: "/transfers", label: t("tabs.transfers") },
            { path: "/charges", label: t("tabs.charges") },
            { path: "/spend", label: t("tabs.spend") }
          ]}
        />
        {hasRole(session, "finance") ? (
          <Group gap="xs">
            <DepositButton organizationId={id} currency={currency} />
            <AdjustmentButton organizationId={id} currency={currency} label={t("adjust.open")} />
          </Group>
        ) : null}
      </Group>
      <Switch>
        <Route path="/transfers">
          <Transfers id={id} currency={currency} />
        </Route>
        <Route path="/charges">
          <Charges id={id} currency={currency} />
        </Route>
        <Route path="/spend">
          <Spend id={id} />
        </Route>
        <Route>
          <BalanceOverTime id={id} />
        </Route>
      </Switch>
    </Stack>
  )
}

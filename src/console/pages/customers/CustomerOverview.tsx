/** The overview of one organisation: its amounts, its settings, and the actions on it. */
import { Alert, Button, Group, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type {
  OrganizationChangeBody,
  OrganizationView
} from "../../../features/accounts/AccountsApi.ts"
import { useApiMutation, useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { Facts } from "../../parts/controls/Facts.tsx"
import { successNotice } from "../../parts/controls/successNotice.ts"
import { currentSlot } from "../../parts/money/currentSlot.ts"
import { sumOf } from "../../parts/money/decimals.ts"
import { Figures } from "../../parts/money/Figures.tsx"
import { Amount, Id, Timestamp } from "../../parts/texts.tsx"
import { usePriceLists } from "../priceLists/usePriceLists.ts"
import { keysKey, membersKey, organizationsKey } from "./accountKeys.ts"
import { CreditDialog } from "./CreditDialog.tsx"
import { EnableDialog } from "./EnabledBadge.tsx"
import { ListDialog } from "./ListDialog.tsx"
import { DepositButton } from "./money/TransferForms.tsx"
import { NameDialog } from "./NameDialog.tsx"
import { choiceOf, WatermarkDialog } from "./WatermarkDialog.tsx"

type Organization = typeof OrganizationView.Type
type Change = typeof OrganizationChangeBody.Type

const Actions = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("accounts")
  const [openDialog, setOpenDialog] = useState<
    "rename" | "priceList" | "credit" | "watermark" | "enable" | null
  >(null)
  const { session } = useSession()
  const { id, name, enabled, currency } = organization
  const change = useApiMutation(
    (payload: Change) => (gateway) =>
      gateway.accounts.changeOrganization({ params: { id }, payload }),
    [organizationsKey, membersKey, keysKey, ["price-lists"]]
  )
  const open = (dialog: typeof openDialog) => {
    change.reset()
    setOpenDialog(dialog)
  }
  const close = () => setOpenDialog(null)
  const notifyOnSuccess = successNotice(close)
  return (
    <Group gap="xs">
      {hasRole(session, "finance") ? (
        <DepositButton organizationId={id} currency={currency} />
      ) : null}
      <Button variant="default" onClick={() => open("rename")}>
        {t("rename")}
      </Button>
      <Button variant="default" onClick={() => open("priceList")}>
        {t("setPriceList")}
      </Button>
      <Button variant="default" onClick={() => open("credit")}>
        {t("setCredit")}
      </Button>
      <Button variant="default" onClick={() => open("watermark")}>
        {t("setWatermark")}
      </Button>
      <Button variant="default" onClick={() => open("enable")}>
        {t(enabled ? "disable" : "enable")}
      </Button>
      {openDialog === "rename" ? (
        <NameDialog
          title={t("rename")}
          action={t("save")}
          name={name}
          mutation={change}
          onSubmit={(form) => change.mutate({ name: form.name }, notifyOnSuccess(t("renamed")))}
          onClose={close}
        />
      ) : null}
      {openDialog === "priceList" ? (
        <ListDialog
          list={organization.price_list}
          mutation={change}
          onSubmit={(price_list) =>
            change.mutate({ price_list }, notifyOnSuccess(t("priceListSet")))
          }
          onClose={close}
        />
      ) : null}
      {openDialog === "credit" ? (
        <CreditDialog
          credit={organization.credit}
          holdsOnCredit={organization.holds_on_credit}
          mutation={change}
          onSubmit={(credit) => change.mutate(credit, notifyOnSuccess(t("creditSet")))}
          onClose={close}
        />
      ) : null}
      {openDialog === "watermark" ? (
        <WatermarkDialog
          watermark={organization.watermark}
          mutation={change}
          onSubmit={(watermark) => change.mutate({ watermark }, notifyOnSuccess(t("watermarkSet")))}
          onClose={close}
        />
      ) : null}
      {openDialog === "enable" ? (
        <EnableDialog
          name={name}
          isEnabled={enabled}
          mutation={change}
          onConfirm={() =>
            change.mutate(
              { enabled: !enabled },
              notifyOnSuccess(t(enabled ? "nowDisabled" : "nowEnabled"))
            )
          }
          onClose={close}
        />
      ) : null}
    </Group>
  )
}

const PriceListName = ({ id }: { readonly id: string | null }) => {
  const { t } = useTranslation("accounts")
  const { data } = usePriceLists()
  if (id === null) return t("noPriceList")
  return data?.data.find((list) => list.id === id)?.name ?? <Id id={id} />
}

/** The charges of the orders of this month. */
const MonthSpend = ({ id, currency }: { readonly id: string; readonly currency: string }) => {
  const month = useApiQuery(["books", id, "series", "month"], (gateway) =>
    gateway.usageSums.readSeries({
      query: { interval: "month", ...currentSlot(), organization_id: id }
    })
  )
  return month.data === undefined ? (
    "…"
  ) : (
    <Amount value={sumOf(month.data.data.map(({ charge }) => charge))} currency={currency} />
  )
}

export const CustomerOverview = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("accounts")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const { id, currency } = organization
  return (
    <Stack gap="lg">
      {hasRole(session, "operator", "finance") ? (
        <Actions organization={organization} />
      ) : (
        <Alert color="gray" role="status">
          {shell("noRight")}
        </Alert>
      )}
      <Figures
        figures={[
          ...(["balance", "held", "available", "exposure"] as const).map((name) => ({
            label: t(name),
            value: <Amount value={organization[name]} currency={currency} />
          })),
          { label: t("usedThisMonth"), value: <MonthSpend id={id} currency={currency} /> }
        ]}
      />
      <Facts
        facts={[
          {
            name: t("credit"),
            value: (
              <Group gap="xs">
                <Amount value={organization.credit} currency={currency} />
                {organization.holds_on_credit ? t("creditForHolds") : null}
              </Group>
            )
          },
          { name: t("priceList"), value: <PriceListName id={organization.price_list} /> },
          {
            name: t("lowBalance"),
            value:
              organization.low_balance === null ? (
                t("never")
              ) : (
                <Amount value={organization.low_balance} currency={currency} />
              )
          },
          { name: t("watermark"), value: t(`watermarks.${choiceOf(organization.watermark)}`) },
          { name: t("created"), value: <Timestamp at={organization.created_at} /> },
          ...(organization.disabled_at === null
            ? []
            : [{ name: t("disabledSince"), value: <Timestamp at={organization.disabled_at} /> }]),
          { name: "ID", value: <Id id={id} /> }
        ]}
      />
    </Stack>
  )
}

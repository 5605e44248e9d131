/** One organisation: its balance, its members and their keys. */
import { Alert, Anchor, Button, Group, Stack, Text, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type {
  OrganizationChangeBody,
  OrganizationView
} from "../../../features/accounts/AccountsApi.ts"
import { useApiMutation, useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { Facts } from "../../parts/controls/Facts.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Amount, Id, Timestamp } from "../../parts/texts.tsx"
import { usePriceLists } from "../priceLists/usePriceLists.ts"
import { keysKey, membersKey, organizationsKey } from "./accessKeys.ts"
import { CreditDialog } from "./CreditDialog.tsx"
import { EnableDialog, EnabledBadge } from "./EnabledBadge.tsx"
import { KeyList } from "./KeyList.tsx"
import { ListDialog } from "./ListDialog.tsx"
import { MemberList } from "./MemberList.tsx"
import { NameDialog } from "./NameDialog.tsx"
import { choiceOf, WatermarkDialog } from "./WatermarkDialog.tsx"

type Organization = typeof OrganizationView.Type
type Change = typeof OrganizationChangeBody.Type

const Actions = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("access")
  const [openDialog, setOpenDialog] = useState<
    "rename" | "priceList" | "credit" | "watermark" | "enable" | null
  >(null)
  const { id, name, enabled } = organization
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
  const notifyOnSuccess = (message: string) => ({
    onSuccess: () => {
      notifications.show({ message })
      close()
    }
  })
  return (
    <Group gap="xs">
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
  const { t } = useTranslation("access")
  const { data } = usePriceLists()
  if (id === null) return t("noPriceList")
  return data?.data.find((list) => list.id === id)?.name ?? <Id id={id} />
}

export const OrganizationPage = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("access")
  const { session } = useSession()
  const organization = useApiQuery([...organizationsKey, "one", id], (gateway) =>
    gateway.accounts.readOrganization({ params: { id } })
  )
  return (
    <Stack gap="lg">
      <Anchor component={Link} href="/" size="sm">
        {t("toOrganizations")}
      </Anchor>
      <QueryView query={organization}>
        {(details) => (
          <Stack gap="lg">
            <Group gap="sm">
              <Title order={2}>{details.name}</Title>
              <EnabledBadge isEnabled={details.enabled} />
            </Group>
            {details.stopped_reason === null ? null : (
              <Alert
                color="red"
                role="alert"
                title={
                  <Text span inherit c="var(--mantine-color-text)">
                    {t("stopped")}
                  </Text>
                }
              >
                <Text size="sm" className="said">
                  {details.stopped_reason}
                </Text>
              </Alert>
            )}
            {hasRole(session, "operator", "finance") ? <Actions organization={details} /> : null}
            <Facts
              facts={[
                {
                  name: t("balance"),
                  value: <Amount value={details.balance} currency={details.currency} />
                },
                {
                  name: t("held"),
                  value: <Amount value={details.held} currency={details.currency} />
                },
                {
                  name: t("available"),
                  value: <Amount value={details.available} currency={details.currency} />
                },
                {
                  name: t("exposure"),
                  value: <Amount value={details.exposure} currency={details.currency} />
                },
                {
                  name: t("credit"),
                  value: (
                    <Group gap="xs">
                      <Amount value={details.credit} currency={details.currency} />
                      {details.holds_on_credit ? t("creditForHolds") : null}
                    </Group>
                  )
                },
                { name: t("priceList"), value: <PriceListName id={details.price_list} /> },
                {
                  name: t("lowBalance"),
                  value:
                    details.low_balance === null ? (
                      t("never")
                    ) : (
                      <Amount value={details.low_balance} currency={details.currency} />
                    )
                },
                { name: t("watermark"), value: t(`watermarks.${choiceOf(details.watermark)}`) },
                { name: t("created"), value: <Timestamp at={details.created_at} /> },
                ...(details.disabled_at === null
                  ? []
                  : [{ name: t("disabledSince"), value: <Timestamp at={details.disabled_at} /> }]),
                { name: "id", value: <Id id={details.id} /> },
                {
                  name: t("more"),
                  value: (
                    <Group gap="sm">
                      <Anchor
                        component={Link}
                        href={`~/console/books/organizations/${id}`}
                        size="sm"
                      >
                        {t("toBooks")}
                      </Anchor>
                      <Anchor component={Link} href={`/webhooks/${id}`} size="sm">
                        {t("webhooks")}
                      </Anchor>
                    </Group>
                  )
                }
              ]}
            />
            <MemberList organizationId={id} currency={details.currency} />
            <KeyList organizationId={id} />
          </Stack>
        )}
      </QueryView>
    </Stack>
  )
}

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
import { useAsk, useDo, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { Asked } from "../../parts/Asked.tsx"
import { Facts } from "../../parts/controls/Facts.tsx"
import { Amount, Id, Moment } from "../../parts/texts.tsx"
import { keysKey, membersKey, organizationsKey } from "./accessKeys.ts"
import { CreditDialog } from "./CreditDialog.tsx"
import { EnableDialog, EnabledBadge } from "./EnabledBadge.tsx"
import { KeyList } from "./KeyList.tsx"
import { ListDialog, usePriceLists } from "./ListDialog.tsx"
import { MemberList } from "./MemberList.tsx"
import { NameDialog } from "./NameDialog.tsx"
import { choiceOf, WatermarkDialog } from "./WatermarkDialog.tsx"

type Organization = typeof OrganizationView.Type
type Change = typeof OrganizationChangeBody.Type

const Actions = ({ organization }: { readonly organization: Organization }) => {
  const { t } = useTranslation("access")
  const [opened, setOpened] = useState<
    "rename" | "priceList" | "credit" | "watermark" | "enable" | null
  >(null)
  const { id, name, enabled } = organization
  const change = useDo(
    (payload: Change) => (gateway) =>
      gateway.accounts.changeOrganization({ params: { id }, payload }),
    [organizationsKey, membersKey, keysKey, ["price-lists"]]
  )
  const open = (what: typeof opened) => {
    change.reset()
    setOpened(what)
  }
  const close = () => setOpened(null)
  const done = (message: string) => ({
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
      {opened === "rename" ? (
        <NameDialog
          title={t("rename")}
          action={t("save")}
          name={name}
          doing={change}
          onDo={(form) => change.mutate({ name: form.name }, done(t("renamed")))}
          onClose={close}
        />
      ) : null}
      {opened === "priceList" ? (
        <ListDialog
          list={organization.price_list}
          doing={change}
          onDo={(price_list) => change.mutate({ price_list }, done(t("priceListSet")))}
          onClose={close}
        />
      ) : null}
      {opened === "credit" ? (
        <CreditDialog
          credit={organization.credit}
          holdsOnCredit={organization.holds_on_credit}
          doing={change}
          onDo={(credit) => change.mutate(credit, done(t("creditSet")))}
          onClose={close}
        />
      ) : null}
      {opened === "watermark" ? (
        <WatermarkDialog
          watermark={organization.watermark}
          doing={change}
          onDo={(watermark) => change.mutate({ watermark }, done(t("watermarkSet")))}
          onClose={close}
        />
      ) : null}
      {opened === "enable" ? (
        <EnableDialog
          name={name}
          isEnabled={enabled}
          doing={change}
          onDo={() =>
            change.mutate({ enabled: !enabled }, done(t(enabled ? "nowDisabled" : "nowEnabled")))
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
  const organization = useAsk([...organizationsKey, "one", id], (gateway) =>
    gateway.accounts.readOrganization({ params: { id } })
  )
  return (
    <Stack gap="lg">
      <Anchor component={Link} href="/" size="sm">
        {t("toOrganizations")}
      </Anchor>
      <Asked query={organization}>
        {(one) => (
          <Stack gap="lg">
            <Group gap="sm">
              <Title order={2}>{one.name}</Title>
              <EnabledBadge isEnabled={one.enabled} />
            </Group>
            {one.stopped_reason === null ? null : (
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
                  {one.stopped_reason}
                </Text>
              </Alert>
            )}
            {mayAct(session, "operator", "finance") ? <Actions organization={one} /> : null}
            <Facts
              facts={[
                {
                  name: t("balance"),
                  value: <Amount value={one.balance} currency={one.currency} />
                },
                { name: t("held"), value: <Amount value={one.held} currency={one.currency} /> },
                {
                  name: t("available"),
                  value: <Amount value={one.available} currency={one.currency} />
                },
                {
                  name: t("exposure"),
                  value: <Amount value={one.exposure} currency={one.currency} />
                },
                {
                  name: t("credit"),
                  value: (
                    <Group gap="xs">
                      <Amount value={one.credit} currency={one.currency} />
                      {one.holds_on_credit ? t("creditForHolds") : null}
                    </Group>
                  )
                },
                { name: t("priceList"), value: <PriceListName id={one.price_list} /> },
                {
                  name: t("lowBalance"),
                  value:
                    one.low_balance === null ? (
                      t("never")
                    ) : (
                      <Amount value={one.low_balance} currency={one.currency} />
                    )
                },
                { name: t("watermark"), value: t(`watermarks.${choiceOf(one.watermark)}`) },
                { name: t("created"), value: <Moment at={one.created_at} /> },
                ...(one.disabled_at === null
                  ? []
                  : [{ name: t("disabledSince"), value: <Moment at={one.disabled_at} /> }]),
                { name: "id", value: <Id id={one.id} /> },
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
            <MemberList organizationId={id} currency={one.currency} />
            <KeyList organizationId={id} />
          </Stack>
        )}
      </Asked>
    </Stack>
  )
}

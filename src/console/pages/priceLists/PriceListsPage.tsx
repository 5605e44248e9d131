/** The page of price lists, which stand over the catalog's prices for organisations. */
import { Alert, Button, Group, Stack, Text, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { PriceListView } from "../../../features/priceLists/PriceListsApi.ts"
import { useApiMutation, usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"
import { Findings, PriceListDialog } from "./PriceListDialog.tsx"
import { textOf } from "./priceListText.ts"

const PAGE = 20

interface RowDialog {
  readonly kind: "edit" | "remove"
  readonly list: PriceListView
}

const PriceListsPage = () => {
  const { t } = useTranslation("priceLists")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [openDialog, setOpenDialog] = useState<RowDialog | "create" | null>(null)
  const [warnings, setWarnings] = useState<Parameters<typeof Findings>[0]["findings"]>([])
  const lists = usePages(
    ["price-lists"],
    (after) => (gateway) => gateway.priceLists.listPriceLists({ query: { limit: PAGE, ...after } })
  )
  const remove = useApiMutation(
    (id: string) => (gateway) => gateway.priceLists.removePriceList({ params: { id } }),
    [["price-lists"]]
  )
  const open = (dialog: typeof openDialog) => {
    remove.reset()
    setWarnings([])
    setOpenDialog(dialog)
  }
  const close = () => setOpenDialog(null)
  const showAndClose = (message: string) => {
    notifications.show({ message })
    close()
  }
  const canWrite = hasRole(session, "operator")
  const termsOf = ({ factor, prices }: PriceListView) =>
    factor === null
      ? t("modelsOf", { count: Object.keys(prices ?? {}).length })
      : t("factorOf", { factor })
  const columns: ReadonlyArray<Column<PriceListView>> = [
    { name: "name", label: t("name"), cell: ({ name }) => name },
    { name: "terms", label: t("terms"), cell: termsOf },
    {
      name: "holds",
      label: t("holdsFrom"),
      cell: ({ holds_from, is_in_force }) => (is_in_force ? t("now") : holds_from)
    },
    {
      name: "organizations",
      label: t("organizations"),
      isNumber: true,
      cell: ({ organizations }) => organizations
    },
    {
      name: "version",
      label: t("version"),
      isNumber: true,
      isHidden: true,
      cell: ({ version }) => version
    },
    { name: "updated", label: t("updated"), cell: (row) => <Timestamp at={row.updated_at} /> },
    { name: "by", label: t("updatedBy"), isHidden: true, cell: (row) => row.updated_by },
    { name: "id", label: "ID", isHidden: true, cell: ({ id }) => <Id id={id} /> },
    ...(canWrite
      ? [
          {
            name: "actions",
            label: t("actions"),
            isMenu: true,
            cell: (list: PriceListView) => (
              <RowMenu
                of={list.name}
                actions={[
                  { label: t("edit"), onPick: () => open({ kind: "edit", list }) },
                  {
                    label: t("remove"),
                    isDangerous: true,
                    onPick: () => open({ kind: "remove", list })
                  }
                ]}
              />
            )
          }
        ]
      : [])
  ]
  return (
    <Stack>
      <Title order={1}>{shell("pages.priceLists")}</Title>
      <Group justify="space-between">
        <Text c="dimmed">{t("lead")}</Text>
        {canWrite ? <Button onClick={() => open("create")}>{t("create")}</Button> : null}
      </Group>
      {canWrite ? null : (
        <Alert color="gray" role="status">
          {shell("noRight")}
        </Alert>
      )}
      {warnings.length === 0 ? null : (
        <Stack gap="xs">
          <Text size="sm">{t("warnings")}</Text>
          <Findings findings={warnings} />
        </Stack>
      )}
      <DataTable
        label={shell("pages.priceLists")}
        columns={columns}
        query={lists}
        empty={t("empty")}
      />
      {openDialog === "create" || openDialog?.kind === "edit" ? (
        <PriceListDialog
          stored={
            openDialog === "create"
              ? null
              : { id: openDialog.list.id, text: textOf(openDialog.list) }
          }
          onSaved={(newWarnings) => {
            showAndClose(t("saved"))
            setWarnings(newWarnings)
          }}
          onClose={close}
        />
      ) : openDialog?.kind === "remove" ? (
        <ActionDialog
          title={t("remove")}
          action={t("remove")}
          isDangerous
          mutation={remove}
          onSubmit={() =>
            remove.mutate(openDialog.list.id, { onSuccess: () => showAndClose(t("removed")) })
          }
          onClose={close}
        >
          <Text size="sm">{t("removeHint", { name: openDialog.list.name })}</Text>
        </ActionDialog>
      ) : null}
    </Stack>
  )
}
export default PriceListsPage

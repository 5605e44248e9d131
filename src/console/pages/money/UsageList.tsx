/** The member's own charges, each with its receipt. */
import { Button, Group, Stack, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { IconDownload } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useApiQuery, usePages } from "../../gateway/hooks.tsx"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { useDownload } from "../../parts/money/downloads.ts"
import { ReceiptModal } from "../../parts/money/Receipt.tsx"
import { type UsageRow, useUsageColumns } from "../../parts/money/usageColumns.tsx"

const LIMIT = 50
/** The maximum page size of the usage list, used for the file. */
const FILE_PAGE = 100
const TYPING_MILLIS = 400
/** Whether a text is a complete tag; a name without a value is none. */
const isTag = (text: string): boolean => /^[^=]+=/.test(text)

export const UsageList = () => {
  const { t } = useTranslation("money")
  const { get, set } = useAddressFilters()
  const download = useDownload()
  const tag = isTag(get("tag")) ? { tag: get("tag") } : {}
  const receiptId = get("receipt")
  const usage = usePages(
    ["money", "usage", tag],
    (after) => (gateway) => gateway.account.usage({ query: { ...after, ...tag, limit: LIMIT } })
  )
  const receipt = useApiQuery(
    ["money", "receipt", receiptId],
    (gateway) => gateway.account.receipt({ params: { id: receiptId } }),
    { isEnabled: receiptId !== "" }
  )
  const type = useDebouncedCallback((text: string) => set({ tag: text.trim() }), TYPING_MILLIS)
  const columns: ReadonlyArray<Column<UsageRow>> = [
    ...useUsageColumns(),
    {
      name: "receipt",
      label: t("receipt.title"),
      cell: ({ id }) => (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => set({ receipt: id })}
          aria-label={`${t("receipt.title")} ${id}`}
        >
          {t("receipt.title")}
        </Button>
      )
    }
  ]
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t("usage.tag")}
          placeholder="project=lighthouse"
          defaultValue={get("tag")}
          onChange={(event) => type(event.currentTarget.value)}
          onBlur={() => type.flush()}
          error={get("tag") === "" || isTag(get("tag")) ? null : t("usage.noTag")}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          loading={download.isPending}
          onClick={() =>
            download.mutate({
              path: `/v1/usage?${new URLSearchParams({ limit: String(FILE_PAGE), ...tag })}`,
              accept: "text/csv",
              name: "usage.csv"
            })
          }
        >
          {t("usage.csv")}
        </Button>
      </Group>
      {download.error === null ? null : <FailureNote error={download.error} />}
      <DataTable
        label={t("usage.title")}
        columns={columns}
        query={usage}
        empty={t("usage.empty")}
      />
      <ReceiptModal
        query={receipt}
        isOpen={receiptId !== ""}
        onClose={() => set({ receipt: null })}
      />
    </Stack>
  )
}

/**
 * The catalog page. Every operator can read the catalog; changes are made in a draft, which is
 * reviewed before it is applied.
 */
import { Button, Center, Group, Loader, Stack, Tabs, Text, TextInput, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { IconPlus } from "@tabler/icons-react"
import { lazy, Suspense } from "react"
import { useTranslation } from "react-i18next"
import { useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { QueryView } from "../../parts/QueryView.tsx"
import { DraftBar } from "./DraftBar.tsx"
import { DraftDialogs } from "./DraftDialogs.tsx"
import { readCatalog } from "./draft/catalogCalls.ts"
import { differences } from "./draft/catalogDifference.ts"
import { type CatalogText, keyOf, type ListName, listNames } from "./draft/catalogEntries.ts"
import { type CatalogVersion, useDraft } from "./draft/storedDraft.ts"
import { useDraftDialog } from "./draftDialog.ts"
import { emptyEntry } from "./EntryDialog.tsx"
import { EntryTable } from "./EntryTable.tsx"

const DocumentEditor = lazy(() => import("./json/DocumentEditor.tsx"))

/** The polling interval, short enough to notice another editor before the draft is finished. */
const EVERY_MILLIS = 10_000

/** The selected list and the search text, both stored in the address. */
const useView = () => {
  const { get, set } = useAddressFilters()
  return {
    view: [...listNames, "json" as const].find((one) => one === get("list")) ?? "channels",
    find: get("find"),
    setView: (name: "list" | "find", value: string | null) => set({ [name]: value })
  }
}

const Lists = ({ current }: { readonly current: CatalogVersion }) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const { view, find, setView } = useView()
  const { draft, setDraft } = useDraft()
  const { dialog, openDialog } = useDraftDialog()
  const mayEdit = hasRole(session, "operator")
  const base = draft?.base ?? current
  const document = draft?.document ?? current.document
  const catalogDifferences = differences(base.document, document)

  const storeDraft = (nextValue: CatalogText): void => {
    setDraft(base, nextValue)
    openDialog(null)
  }
  const panel = (list: ListName) => (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <TextInput
          label={t("find")}
          value={find}
          onChange={(event) => setView("find", event.currentTarget.value)}
          w={260}
        />
        {mayEdit ? (
          <Button
            leftSection={<IconPlus size={16} />}
            onClick={() => openDialog({ kind: "edit", entry: emptyEntry(list), replacedKey: null })}
          >
            {t(`add.${list}`)}
          </Button>
        ) : null}
      </Group>
      <EntryTable
        {...{ document, list, differences: catalogDifferences, find }}
        edit={
          mayEdit
            ? {
                onEdit: (entry) => openDialog({ kind: "edit", entry, replacedKey: keyOf(entry) }),
                onRemove: (entry) => openDialog({ kind: "remove", entry })
              }
            : null
        }
      />
    </Stack>
  )
  return (
    <Stack>
      <Group gap="md">
        <Text size="sm" c="dimmed">
          {t("version", { version: base.version })}
        </Text>
        {mayEdit ? null : <Text size="sm">{shell("noRight")}</Text>}
      </Group>
      <DraftBar {...{ draft, current, differences: catalogDifferences, openDialog }} />
      <Tabs value={view} onChange={(nextValue) => setView("list", nextValue)} keepMounted={false}>
        <Tabs.List>
          {[...listNames, "json" as const].map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {listNames.map((list) => (
          <Tabs.Panel key={list} value={list} pt="md">
            {panel(list)}
          </Tabs.Panel>
        ))}
        <Tabs.Panel value="json" pt="md">
          <Suspense
            fallback={
              <Center h={200}>
                <Loader />
              </Center>
            }
          >
            <DocumentEditor
              document={document}
              revision={`${base.version} ${draft?.revision ?? ""}`}
              mayEdit={mayEdit}
              onTake={storeDraft}
            />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
      <DraftDialogs
        {...{ dialog, draft, document, openDialog }}
        onKeep={storeDraft}
        onApply={(version) => {
          // The applied draft counts as the catalog until the catalog is read again.
          setDraft(base, base.document)
          openDialog(null)
          notifications.show({ message: t("review.applied", { version }), color: "green" })
        }}
        onDrop={() => {
          setDraft(base, base.document)
          openDialog(null)
        }}
        onMerge={(mergeBase, mergedDocument) => {
          setDraft(mergeBase, mergedDocument)
          openDialog({ kind: "review" })
          notifications.show({ message: t("merge.done", { version: mergeBase.version }) })
        }}
      />
    </Stack>
  )
}

const CatalogPage = () => {
  const { t } = useTranslation()
  const { t: texts } = useTranslation("catalog")
  const catalog = useApiQuery(["catalog"], readCatalog, { intervalMillis: EVERY_MILLIS })
  return (
    <Stack>
      <div>
        <Title order={1}>{t("pages.catalog")}</Title>
        <Text c="dimmed">{texts("lead")}</Text>
      </div>
      <QueryView query={catalog} lines={8}>
        {(current) => <Lists current={current} />}
      </QueryView>
    </Stack>
  )
}
export default CatalogPage

/**
 * The catalog page. Every operator can read the catalog; changes are made in a draft, which is
 * reviewed before it is applied.
 */
import { Button, Center, Group, Loader, Stack, Tabs, Text, TextInput, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { IconPlus } from "@tabler/icons-react"
import { lazy, Suspense } from "react"
import { useTranslation } from "react-i18next"
import { useAsk, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { Asked } from "../../parts/Asked.tsx"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { DraftBar } from "./DraftBar.tsx"
import { DraftQuestions } from "./DraftQuestions.tsx"
import { readCatalog } from "./draft/catalogCalls.ts"
import { differences } from "./draft/catalogDifference.ts"
import { type CatalogText, keyOf, type ListName, listNames } from "./draft/catalogEntries.ts"
import { type CatalogRead, useDraft } from "./draft/keptDraft.ts"
import { useQuestion } from "./draftQuestion.ts"
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
    look: (name: "list" | "find", value: string | null) => set({ [name]: value })
  }
}

const Lists = ({ current }: { readonly current: CatalogRead }) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const { view, find, look } = useView()
  const { draft, setDraft } = useDraft()
  const { question, ask } = useQuestion()
  const mayEdit = mayAct(session, "operator")
  const base = draft?.base ?? current
  const document = draft?.mine ?? current.document
  const changed = differences(base.document, document)

  const keep = (next: CatalogText): void => {
    setDraft(base, next)
    ask(null)
  }
  const panel = (list: ListName) => (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <TextInput
          label={t("find")}
          value={find}
          onChange={(event) => look("find", event.currentTarget.value)}
          w={260}
        />
        {mayEdit ? (
          <Button
            leftSection={<IconPlus size={16} />}
            onClick={() => ask({ kind: "edit", entry: emptyEntry(list), replaced: null })}
          >
            {t(`add.${list}`)}
          </Button>
        ) : null}
      </Group>
      <EntryTable
        {...{ document, list, changed, find }}
        edit={
          mayEdit
            ? {
                onEdit: (entry) => ask({ kind: "edit", entry, replaced: keyOf(entry) }),
                onRemove: (entry) => ask({ kind: "remove", entry })
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
      <DraftBar {...{ draft, current, changed, ask }} />
      <Tabs value={view} onChange={(next) => look("list", next)} keepMounted={false}>
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
              onTake={keep}
            />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
      <DraftQuestions
        {...{ question, draft, document, ask }}
        onKeep={keep}
        onApplied={(version) => {
          // The applied draft counts as the catalog until the catalog is read again.
          setDraft(base, base.document)
          ask(null)
          notifications.show({ message: t("review.applied", { version }), color: "green" })
        }}
        onDrop={() => {
          setDraft(base, base.document)
          ask(null)
        }}
        onMerged={(onto, mine) => {
          setDraft(onto, mine)
          ask({ kind: "review" })
          notifications.show({ message: t("merge.done", { version: onto.version }) })
        }}
      />
    </Stack>
  )
}

const CatalogPage = () => {
  const { t } = useTranslation()
  const { t: texts } = useTranslation("catalog")
  const catalog = useAsk(["catalog"], readCatalog, { every: EVERY_MILLIS })
  return (
    <Stack>
      <div>
        <Title order={1}>{t("pages.catalog")}</Title>
        <Text c="dimmed">{texts("lead")}</Text>
      </div>
      <Asked query={catalog} lines={8}>
        {(current) => <Lists current={current} />}
      </Asked>
    </Stack>
  )
}
export default CatalogPage

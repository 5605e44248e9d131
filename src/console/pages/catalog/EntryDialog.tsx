/**
 * A form for one entry. The gateway validates the entry before it becomes a part of the draft, and
 * its faults are shown at the fields.
 */
import { Alert, Button, Group, List, Modal, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiMutation, useSession } from "../../gateway/hooks.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { type CatalogFault, faultsAt, faultsOf, previewCatalog } from "./draft/catalogCalls.ts"
import {
  type CatalogText,
  type Entry,
  entriesOf,
  keyOf,
  type ListName,
  withEntry
} from "./draft/catalogEntries.ts"
import { ChannelFields } from "./forms/ChannelFields.tsx"
import { ModelFields } from "./forms/ModelFields.tsx"
import { MountFields } from "./forms/MountFields.tsx"

export const emptyEntry = (list: ListName): Entry => {
  switch (list) {
    case "channels":
      return { list, entry: { id: "", name: "", base_url: "", app_id: null, enabled: true } }
    case "models":
      return {
        list,
        entry: {
          id: "",
          modality: "video",
          protocol: "",
          owned_by: "media-gateway",
          input_forms: ["text"]
        }
      }
    case "mounts":
      return {
        list,
        entry: {
          model: "",
          channel: "",
          protocol: null,
          upstream_model: null,
          priority: 0,
          weight: 1,
          enabled: true
        }
      }
  }
}

interface FieldsProps {
  readonly document: CatalogText
  readonly entry: Entry
  readonly onChange: (entry: Entry) => void
  readonly isNew: boolean
  readonly faultAt: (path: string) => string | undefined
}

const Fields = ({ document, entry: value, onChange, isNew, faultAt }: FieldsProps) => {
  switch (value.list) {
    case "channels":
      return (
        <ChannelFields
          value={value.entry}
          onChange={(entry) => onChange({ list: value.list, entry })}
          {...{ isNew, faultAt }}
        />
      )
    case "models":
      return (
        <ModelFields
          value={value.entry}
          onChange={(entry) => onChange({ list: value.list, entry })}
          {...{ isNew, faultAt }}
        />
      )
    case "mounts":
      return (
        <MountFields
          value={value.entry}
          onChange={(entry) => onChange({ list: value.list, entry })}
          {...{ document, isNew, faultAt }}
        />
      )
  }
}

/** The faults of an entry, each with its path and message. */
const Faults = ({ faults }: { readonly faults: ReadonlyArray<CatalogFault> }) => {
  const { t } = useTranslation("catalog")
  return (
    <Alert color="red" role="alert" title={t("faults.entry")}>
      <List size="sm">
        {faults.map(({ path, message }) => (
          <List.Item key={`${path} ${message}`}>
            {path === "" ? null : <span className="id">{path} </span>}
            {message}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

interface Props {
  readonly document: CatalogText
  readonly initialEntry: Entry
  /** The key of the replaced entry in the document; null for a new entry. */
  readonly replacedKey: string | null
  readonly onKeep: (document: CatalogText) => void
  readonly onClose: () => void
}

export const EntryDialog = ({ document, initialEntry, replacedKey, onKeep, onClose }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [entry, setEntry] = useState(initialEntry)
  const check = useApiMutation(
    (nextDocument: CatalogText) => () => previewCatalog(session, nextDocument)
  )
  const [faults, setFaults] = useState<ReadonlyArray<CatalogFault>>([])
  const isNew = replacedKey === null
  const isOthers = check.isError && faultsOf(check.error) === null

  const submit = (): void => {
    if (check.isPending) return
    const nextDocument = withEntry(document, entry, replacedKey)
    const entries = entriesOf(nextDocument, entry.list)
    const index = isNew
      ? entries.length - 1
      : entries.findIndex((candidate) => keyOf(candidate) === keyOf(entry))
    check.mutate(nextDocument, {
      onSuccess: () => onKeep(nextDocument),
      onError: (error) => {
        const all = faultsOf(error)
        if (all === null) return
        const entryFaults = faultsAt(all, entry.list, index)
        setFaults(entryFaults)
        // Faults in other entries are shown in the review of the draft.
        if (entryFaults.length === 0) onKeep(nextDocument)
      }
    })
  }
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t(isNew ? `add.${entry.list}` : `editTitle.${entry.list}`, { key: keyOf(entry) })}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Stack>
          <Fields
            {...{ document, entry, isNew }}
            onChange={setEntry}
            faultAt={(path) => faults.find((fault) => fault.path === path)?.message}
          />
          {faults.length === 0 ? null : <Faults faults={faults} />}
          {isOthers ? <FailureNote error={check.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {shell("cancel")}
            </Button>
            <Button type="submit" loading={check.isPending}>
              {t("draft.keep")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

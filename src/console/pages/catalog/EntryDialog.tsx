/**
 * A form for one entry. The gateway validates the entry before it becomes a part of the draft, and
 * its faults are shown at the fields.
 */
import { Alert, Button, Group, List, Modal, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useDo, useSession } from "../../gateway/hooks.tsx"
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

const Fields = ({ document, entry: one, onChange, isNew, faultAt }: FieldsProps) => {
  switch (one.list) {
    case "channels":
      return (
        <ChannelFields
          value={one.entry}
          onChange={(entry) => onChange({ list: one.list, entry })}
          {...{ isNew, faultAt }}
        />
      )
    case "models":
      return (
        <ModelFields
          value={one.entry}
          onChange={(entry) => onChange({ list: one.list, entry })}
          {...{ isNew, faultAt }}
        />
      )
    case "mounts":
      return (
        <MountFields
          value={one.entry}
          onChange={(entry) => onChange({ list: one.list, entry })}
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
  readonly opened: Entry
  /** The key of the replaced entry in the document; null for a new entry. */
  readonly replaced: string | null
  readonly onKeep: (document: CatalogText) => void
  readonly onClose: () => void
}

export const EntryDialog = ({ document, opened, replaced, onKeep, onClose }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [entry, setEntry] = useState(opened)
  const check = useDo((next: CatalogText) => () => previewCatalog(session, next))
  const [faults, setFaults] = useState<ReadonlyArray<CatalogFault>>([])
  const isNew = replaced === null
  const isOthers = check.isError && faultsOf(check.error) === null

  const keep = (): void => {
    if (check.isPending) return
    const next = withEntry(document, entry, replaced)
    const inList = entriesOf(next, entry.list)
    const index = isNew ? inList.length - 1 : inList.findIndex((one) => keyOf(one) === keyOf(entry))
    check.mutate(next, {
      onSuccess: () => onKeep(next),
      onError: (error) => {
        const all = faultsOf(error)
        if (all === null) return
        const own = faultsAt(all, entry.list, index)
        setFaults(own)
        // Faults in other entries are shown in the review of the draft.
        if (own.length === 0) onKeep(next)
      }
    })
  }
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t(isNew ? `add.${entry.list}` : `editTitle.${entry.list}`, { key: keyOf(entry) })}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          keep()
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

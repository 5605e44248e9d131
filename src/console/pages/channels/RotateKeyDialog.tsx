/** A dialog that replaces the value of a channel's key at its vendor. */
import { PasswordInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import { NotFound } from "../../../domain/Errors.ts"
import type { ApiCall } from "../../gateway/client.ts"
import { useApiMutation, useSession } from "../../gateway/hooks.tsx"
import type { Session } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { successNotice } from "../../parts/controls/successNotice.ts"
import {
  applyCatalog,
  faultsOf,
  newerVersionsOf,
  readCatalog
} from "../catalog/draft/catalogCalls.ts"
import { type CatalogText, type ChannelText, withEntry } from "../catalog/draft/catalogEntries.ts"

interface KeyName {
  readonly channelId: string
  readonly keyName: string
}

/** The channel with the new value; undefined if it has no such key any more. */
const withKeyValue = (
  channel: ChannelText,
  keyName: string,
  value: string
): ChannelText | undefined => {
  const { api_keys: keys = [] } = channel
  // A channel that lists no keys has one, which is its `api_key`.
  if (keys.length === 0) return { ...channel, api_key: value }
  if (!keys.some(({ name }) => name === keyName)) return undefined
  return {
    ...channel,
    api_keys: keys.map((key) => (key.name === keyName ? { ...key, api_key: value } : key))
  }
}

const rotatedIn = (
  { channels }: CatalogText,
  { channelId, keyName }: KeyName,
  value: string
): ChannelText | undefined => {
  const channel = channels.find(({ id }) => id === channelId)
  return channel === undefined ? undefined : withKeyValue(channel, keyName, value)
}

/** Applied to the newest catalog: a key's value contradicts no other change of it. */
const rotateKey =
  (session: Session, key: KeyName, value: string): ApiCall<unknown, unknown> =>
  (gateway) =>
    Effect.flatMap(readCatalog(gateway), ({ document, version }) => {
      const entry = rotatedIn(document, key, value)
      return entry === undefined
        ? Effect.fail(new NotFound({ message: `${key.channelId}: ${key.keyName}`, param: null }))
        : applyCatalog(session, withEntry(document, { list: "channels", entry }, entry.id), version)
    }).pipe(Effect.retry({ while: (error) => newerVersionsOf(error) !== undefined }))

interface Props extends KeyName {
  readonly onClose: () => void
}

export const RotateKeyDialog = ({ channelId, keyName, onClose }: Props) => {
  const { t } = useTranslation("channels")
  const { t: catalog } = useTranslation("catalog")
  const { t: books } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const form = useForm({
    initialValues: { value: "" },
    validate: { value: (text) => (text.trim() === "" ? books("form.needed") : null) }
  })
  const rotation = useApiMutation(
    (value: string) => rotateKey(session, { channelId, keyName }, value),
    [["channels"], ["catalog"]]
  )
  const [fault] = faultsOf(rotation.error) ?? []
  return (
    <ActionDialog
      title={t("rotateOf", { name: keyName })}
      action={shell("save")}
      mutation={rotation}
      onSubmit={form.onSubmit(({ value }) =>
        rotation.mutate(value.trim(), successNotice(onClose)(t("rotated", { name: keyName })))
      )}
      onClose={onClose}
    >
      <PasswordInput
        label={catalog("fields.api_key")}
        description={t("rotateHint")}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("value")}
        error={form.errors.value ?? fault?.message}
      />
    </ActionDialog>
  )
}

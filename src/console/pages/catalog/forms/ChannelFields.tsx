/** The fields of a channel. Vendors' API keys can be written, but never read. */
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  NumberInput,
  PasswordInput,
  Stack,
  Text,
  TextInput
} from "@mantine/core"
import { IconPlus, IconTrash } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { ChannelText } from "../draft/catalogEntries.ts"

export interface FieldsProps<A> {
  readonly value: A
  readonly onChange: (value: A) => void
  /** Whether the entry is new. The id of an existing entry cannot be changed. */
  readonly isNew: boolean
  readonly faultAt: (path: string) => string | undefined
}

type Keys = NonNullable<ChannelText["api_keys"]>

const keyed = ({ api_key: _, ...key }: Keys[number], text: string): Keys[number] =>
  text === "" ? key : { ...key, api_key: text }

const KeyRows = ({
  keys,
  isNew,
  onChange,
  faultAt
}: {
  readonly keys: Keys
  readonly isNew: boolean
  readonly onChange: (keys: Keys) => void
  readonly faultAt: FieldsProps<ChannelText>["faultAt"]
}) => {
  const { t } = useTranslation("catalog")
  return keys.map((key, index) => {
    const put = (next: Keys[number]): void => onChange(keys.with(index, next))
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a key has no id, and its name is being typed
      <Group key={index} align="flex-end" gap="xs">
        <TextInput
          label={t("fields.keyName")}
          value={key.name}
          error={faultAt(`api_keys[${index}].name`)}
          flex="1 1 120px"
          onChange={(event) => put({ ...key, name: event.currentTarget.value })}
        />
        <PasswordInput
          label={t("fields.keyValue", { name: key.name })}
          placeholder={isNew ? "" : "••••••"}
          autoComplete="off"
          value={key.api_key ?? ""}
          error={faultAt(`api_keys[${index}].api_key`)}
          flex="2 1 160px"
          onChange={(event) => put(keyed(key, event.currentTarget.value))}
        />
        <Checkbox
          label={t("fields.keyEnabled", { name: key.name })}
          checked={key.enabled ?? true}
          pb={8}
          onChange={(event) => put({ ...key, enabled: event.currentTarget.checked })}
        />
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={t("fields.removeKey", { name: key.name })}
          onClick={() => onChange(keys.toSpliced(index, 1))}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
    )
  })
}

/** The channel without the field `api_keys`, which is empty. */
const without = ({ api_keys: _, ...channel }: ChannelText): ChannelText => channel

export const ChannelFields = ({ value, onChange, isNew, faultAt }: FieldsProps<ChannelText>) => {
  const { t } = useTranslation("catalog")
  const { api_key, ...others } = value
  const keys = value.api_keys ?? []
  return (
    <Stack>
      <TextInput
        label={t("fields.id")}
        description={t("fields.idHint")}
        required
        readOnly={!isNew}
        value={value.id}
        error={faultAt("id")}
        data-autofocus={isNew}
        onChange={(event) => onChange({ ...value, id: event.currentTarget.value })}
      />
      <TextInput
        label={t("fields.name")}
        required
        value={value.name}
        error={faultAt("name")}
        onChange={(event) => onChange({ ...value, name: event.currentTarget.value })}
      />
      <TextInput
        label={t("fields.base_url")}
        description={t("fields.base_urlHint")}
        required
        type="url"
        value={value.base_url}
        error={faultAt("base_url")}
        onChange={(event) => onChange({ ...value, base_url: event.currentTarget.value.trim() })}
      />
      <PasswordInput
        label={t("fields.api_key")}
        description={t(isNew ? "fields.api_keyNew" : "fields.api_keyHint")}
        placeholder={isNew ? "" : "••••••"}
        autoComplete="off"
        value={api_key ?? ""}
        error={faultAt("api_key")}
        onChange={(event) => {
          const text = event.currentTarget.value
          onChange(text === "" ? others : { ...others, api_key: text })
        }}
      />
      <Stack gap="xs" component="fieldset" style={{ border: 0, padding: 0, margin: 0 }}>
        <Text component="legend" fw={600} size="sm">
          {t("fields.api_keys")}
        </Text>
        <Text size="xs" c="dimmed">
          {t("fields.api_keysHint")}
        </Text>
        <KeyRows
          keys={keys}
          isNew={isNew}
          faultAt={faultAt}
          onChange={(next) =>
            onChange(next.length === 0 ? without(value) : { ...value, api_keys: next })
          }
        />
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          style={{ alignSelf: "flex-start" }}
          onClick={() =>
            onChange({
              ...value,
              api_keys: [...keys, { name: `key-${keys.length + 1}`, enabled: true }]
            })
          }
        >
          {t("fields.addKey")}
        </Button>
      </Stack>
      <TextInput
        label={t("fields.app_id")}
        description={t("fields.app_idHint")}
        value={value.app_id ?? ""}
        error={faultAt("app_id")}
        onChange={(event) => onChange({ ...value, app_id: event.currentTarget.value || null })}
      />
      <NumberInput
        label={t("fields.max_tasks")}
        description={t("fields.max_tasksHint")}
        min={1}
        allowDecimal={false}
        value={value.max_tasks ?? ""}
        error={faultAt("max_tasks")}
        onChange={(next) => {
          const { max_tasks: _, ...rest } = value
          onChange(typeof next === "number" ? { ...rest, max_tasks: next } : rest)
        }}
      />
      <Checkbox
        label={t("fields.allow_private")}
        checked={value.allow_private ?? false}
        error={faultAt("allow_private")}
        onChange={(event) => onChange({ ...value, allow_private: event.currentTarget.checked })}
      />
      <Checkbox
        label={t("fields.enabled")}
        description={t("fields.enabledHint")}
        checked={value.enabled ?? true}
        onChange={(event) => onChange({ ...value, enabled: event.currentTarget.checked })}
      />
    </Stack>
  )
}

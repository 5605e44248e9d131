/** A form for a key: its name, scopes, models, rate limit and expiry. */
import { Checkbox, MultiSelect, SimpleGrid, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { KeyView } from "../../../features/accounts/AccountsApi.ts"
import { allScopes, type Scope, usualScopes } from "../../../services/Access.ts"
import { useCatalog } from "../../gateway/useCatalog.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { matchOption } from "../../parts/controls/addressFields.tsx"

export interface KeyForm {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  /** The allowed models; null allows all. */
  readonly models: ReadonlyArray<string> | null
  /** The rate limit; null is the gateway's default. */
  readonly requests_per_minute: number | null
  /** The expiry; null means that the key does not expire. */
  readonly expires_at: Date | null
}

interface Props {
  readonly title: string
  readonly action: string
  /** The key before the change; left out for a new key. */
  readonly apiKey?: typeof KeyView.Type
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (form: KeyForm) => void
  readonly onClose: () => void
  /** Fields above those of the key. */
  readonly children?: ReactNode
}

const TWO = 2

/** A time in the format of an input field, in the reader's time zone. */
const localTime = (at: string | null | undefined): string => {
  if (at === null || at === undefined) return ""
  const time = new Date(at)
  const two = (part: number) => String(part).padStart(TWO, "0")
  return (
    `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}` +
    `T${two(time.getHours())}:${two(time.getMinutes())}`
  )
}

export const KeyDialog = (props: Props) => {
  const { title, action, apiKey, mutation, onSubmit, onClose, children } = props
  const { t } = useTranslation("accounts")
  const catalog = useCatalog()
  const models = new Set([
    ...(catalog.data?.models.map(({ id }) => id) ?? []),
    ...(apiKey?.models ?? [])
  ])
  const form = useForm<{
    name: string
    scopes: Array<string>
    models: Array<string>
    rate: string
    expires: string
  }>({
    initialValues: {
      name: apiKey?.name ?? "",
      scopes: [...(apiKey?.scopes ?? usualScopes)],
      models: [...(apiKey?.models ?? [])],
      rate: apiKey?.requests_per_minute?.toString() ?? "",
      expires: localTime(apiKey?.expires_at)
    },
    validate: {
      name: (text) => (text.trim() === "" ? t("nameNeeded") : null),
      scopes: (scopes) => (scopes.length === 0 ? t("scopeNeeded") : null),
      rate: (text) => (/^(?:[1-9]\d{0,7})?$/.test(text.trim()) ? null : t("rateNeeded"))
    }
  })
  const submit = form.onSubmit((values) =>
    onSubmit({
      name: values.name.trim(),
      scopes: values.scopes.flatMap((scope) => matchOption(scope, allScopes) ?? []),
      models: values.models.length === 0 ? null : values.models,
      requests_per_minute: values.rate.trim() === "" ? null : Number(values.rate),
      expires_at:
        values.expires === ""
          ? null
          : // The field has no seconds, so an unchanged time keeps its original precision.
            values.expires === localTime(apiKey?.expires_at) &&
              typeof apiKey?.expires_at === "string"
            ? new Date(apiKey.expires_at)
            : new Date(values.expires)
    })
  )
  return (
    <ActionDialog
      title={title}
      action={action}
      mutation={mutation}
      onSubmit={submit}
      onClose={onClose}
      size="lg"
    >
      {children}
      <TextInput label={t("name")} data-autofocus {...form.getInputProps("name")} />
      <Checkbox.Group
        label={t("scopes")}
        description={t("scopesHint")}
        {...form.getInputProps("scopes")}
      >
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt="xs">
          {allScopes.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} description={t(`scope.${scope}`)} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <MultiSelect
        label={t("models")}
        description={t("modelsHint")}
        placeholder={form.values.models.length === 0 ? t("allModels") : ""}
        data={[...models]}
        searchable
        clearable
        {...form.getInputProps("models")}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label={t("rate")}
          description={t("rateHint")}
          inputMode="numeric"
          {...form.getInputProps("rate")}
        />
        <TextInput
          label={t("expires")}
          description={t("expiresHint")}
          type="datetime-local"
          {...form.getInputProps("expires")}
        />
      </SimpleGrid>
    </ActionDialog>
  )
}

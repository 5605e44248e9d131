/** The second step: the channel's address and key, which are tested at the vendor. */
import { Button, PasswordInput, SimpleGrid, Stack, Text, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiMutation, useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { faultsOf } from "../../catalog/draft/catalogCalls.ts"
import { Check } from "../ChannelActions.tsx"
import { type NewVendor, testAccount } from "./newVendor.ts"
import { StepButtons } from "./StepButtons.tsx"
import { needsAppId } from "./vendors.ts"

interface Props {
  readonly newVendor: NewVendor
  readonly onChange: (newVendor: NewVendor) => void
  readonly onNext: () => void
  readonly onBack: () => void
}

export const AccountStep = ({ newVendor, onChange, onNext, onBack }: Props) => {
  const { t } = useTranslation("wizard")
  const { t: catalog } = useTranslation("catalog")
  const { t: channels } = useTranslation("channels")
  const { session } = useSession()
  const test = useApiMutation((tested: NewVendor) => () => testAccount(session, tested))
  const { vendor, id, name, baseUrl, appId, apiKey, check } = newVendor
  const faults = test.isError ? (faultsOf(test.error) ?? []) : []
  const faultAt = (path: string) => faults.find((fault) => fault.path === path)?.message
  /** A test says nothing about another account. */
  const change = (fields: Partial<NewVendor>): void => {
    test.reset()
    onChange({ ...newVendor, check: null, ...fields })
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        test.mutate(newVendor, {
          onSuccess: (answer) => {
            onChange({ ...newVendor, check: answer })
            if (answer.credential_accepted === true) onNext()
          }
        })
      }}
    >
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            label={catalog("fields.name")}
            required
            value={name}
            onChange={(event) => onChange({ ...newVendor, name: event.currentTarget.value })}
          />
          <TextInput
            label={catalog("fields.id")}
            description={catalog("fields.idHint")}
            inputWrapperOrder={["label", "input", "description", "error"]}
            required
            value={id}
            onChange={(event) => onChange({ ...newVendor, id: event.currentTarget.value })}
          />
        </SimpleGrid>
        <TextInput
          label={catalog("fields.base_url")}
          {...(vendor.baseUrl === "" ? {} : { description: t("urlHint") })}
          required
          type="url"
          value={baseUrl}
          error={faultAt("base_url")}
          onChange={(event) => change({ baseUrl: event.currentTarget.value.trim() })}
        />
        <PasswordInput
          label={catalog("fields.api_key")}
          description={catalog("fields.api_keyNew")}
          required
          autoComplete="off"
          value={apiKey}
          error={faultAt("api_key")}
          onChange={(event) => change({ apiKey: event.currentTarget.value })}
        />
        {needsAppId(vendor) ? (
          <TextInput
            label={catalog("fields.app_id")}
            required
            value={appId}
            error={faultAt("app_id")}
            onChange={(event) => change({ appId: event.currentTarget.value })}
          />
        ) : null}
        <Text size="sm" c="dimmed">
          {channels("testHint")}
        </Text>
        <div role="status">{check === null ? null : <Check check={check} />}</div>
        {test.isError && faults.length === 0 ? <FailureNote error={test.error} /> : null}
        <StepButtons onBack={onBack}>
          {check === null && !test.isError ? null : (
            <Button variant="default" onClick={onNext}>
              {check?.credential_accepted === true ? t("next") : t("anyway")}
            </Button>
          )}
          <Button type="submit" loading={test.isPending}>
            {t("test")}
          </Button>
        </StepButtons>
      </Stack>
    </form>
  )
}

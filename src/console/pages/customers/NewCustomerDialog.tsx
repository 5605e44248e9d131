/**
 * A form for a new customer: its organisation, and where they are wanted a first member, a first
 * key and a first deposit.
 */
import { Alert, SimpleGrid, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { Effect } from "effect"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { usualScopes } from "../../../services/Access.ts"
import { useApiMutation, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { isPositive, newReference, typedNano } from "../../parts/money/amountFields.ts"
import { organizationsKey } from "./accountKeys.ts"

interface Props {
  /** The currency of balances; undefined while it is unknown. */
  readonly currency: string | undefined
  /** Called with the id of the new organisation; null where none was created. */
  readonly onClose: (id: string | null) => void
}

/**
 * What a failed submission created before it failed. The next one continues from there, so that
 * nothing is created twice.
 */
interface Progress {
  readonly organizationId: string | null
  readonly memberId: string | null
  readonly hasDeposit: boolean
}

const nothingYet: Progress = { organizationId: null, memberId: null, hasDeposit: false }

export const NewCustomerDialog = ({ currency, onClose }: Props) => {
  const { t } = useTranslation("accounts")
  const { t: books } = useTranslation("books")
  const { session } = useSession()
  const [progress, setProgress] = useState(nothingYet)
  const form = useForm({
    initialValues: { name: "", member: "", key: "", amount: "", reference: newReference() },
    validate: {
      name: (text) => (text.trim() === "" ? t("nameNeeded") : null),
      member: (text, { key }) =>
        text.trim() === "" && key.trim() !== "" ? t("memberNeeded") : null,
      amount: (text) => (text.trim() === "" || isPositive(text) ? null : books("form.noAmount")),
      reference: (text, { amount }) =>
        amount.trim() !== "" && text.trim() === "" ? books("form.needed") : null
    }
  })
  const create = useApiMutation(
    (values: typeof form.values) =>
      Effect.fnUntraced(function* (gateway) {
        let reached = progress
        const reach = (step: Partial<Progress>) => {
          reached = { ...reached, ...step }
          setProgress(reached)
        }
        const id =
          reached.organizationId ??
          (yield* gateway.admin.createOrganization({ payload: { name: values.name.trim() } })).id
        reach({ organizationId: id })
        const params = { id }
        if (values.member.trim() !== "" && reached.memberId === null) {
          const payload = { name: values.member.trim(), monthly_cap: null }
          const member = yield* gateway.admin.createMember({ params, payload })
          reach({ memberId: member.id })
        }
        const nano = typedNano(values.amount)
        if (nano !== null && !reached.hasDeposit) {
          const payload = { amount: nano, reference: values.reference.trim() }
          yield* gateway.admin.deposit({ params, payload })
          reach({ hasDeposit: true })
        }
        // The key comes last, so that no failure hides its secret.
        if (values.key.trim() === "" || reached.memberId === null) return { id, secret: null }
        const { key } = yield* gateway.admin.createKey({
          params: { id: reached.memberId },
          payload: {
            name: values.key.trim(),
            scopes: usualScopes,
            models: null,
            requests_per_minute: null,
            expires_at: null
          }
        })
        return { id, secret: key }
      }),
    [organizationsKey]
  )
  if (create.isSuccess && create.data.secret !== null) {
    return (
      <SecretDialog
        title={t("keyMade", { name: create.variables.key.trim() })}
        label={t("key")}
        secret={create.data.secret}
        onConfirm={() => onClose(create.data.id)}
      />
    )
  }
  return (
    <ActionDialog
      title={t("newCustomer")}
      action={t("create")}
      mutation={create}
      onSubmit={form.onSubmit((values) =>
        create.mutate(values, {
          onSuccess: ({ id, secret }) => {
            if (secret === null) onClose(id)
          }
        })
      )}
      onClose={() => onClose(progress.organizationId)}
    >
      <TextInput
        label={t("name")}
        data-autofocus
        disabled={progress.organizationId !== null}
        {...form.getInputProps("name")}
      />
      <TextInput
        label={t("firstMember")}
        description={t("firstMemberHint")}
        disabled={progress.memberId !== null}
        {...form.getInputProps("member")}
      />
      {hasRole(session, "operator") ? (
        <TextInput
          label={t("firstKey")}
          description={t("firstKeyHint")}
          {...form.getInputProps("key")}
        />
      ) : null}
      {hasRole(session, "finance") ? (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={currency === undefined ? books("deposit.go") : t("firstDeposit", { currency })}
            description={t("firstDepositHint")}
            inputMode="decimal"
            disabled={progress.hasDeposit}
            {...form.getInputProps("amount")}
          />
          <TextInput
            label={books("form.reference")}
            description={t("firstReferenceHint")}
            disabled={progress.hasDeposit}
            {...form.getInputProps("reference")}
          />
        </SimpleGrid>
      ) : null}
      {create.isError && progress.organizationId !== null ? (
        <Alert color="orange" role="status">
          {t("partlyCreated", { name: form.values.name.trim() })}
        </Alert>
      ) : null}
    </ActionDialog>
  )
}

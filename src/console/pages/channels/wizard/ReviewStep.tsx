/** The last step: what is added, what is missing, and its application to the catalog. */
import { Alert, Button, Group, List, Stack, Text, Title } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import { useApiMutation, useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { applyCatalog, newerVersionsOf } from "../../catalog/draft/catalogCalls.ts"
import { type CatalogVersion, nextRevision } from "../../catalog/draft/storedDraft.ts"
import { Verdict } from "../../catalog/Verdict.tsx"
import { listedModel, type NewVendor, unpricedModels, withVendor } from "./newVendor.ts"
import { StepButtons } from "./StepButtons.tsx"

interface Props {
  readonly base: CatalogVersion
  readonly newVendor: NewVendor
  /** While the catalog is read again, an application would be to the one that has changed. */
  readonly isRefreshing: boolean
  /** Called when another operator has changed the catalog first. */
  readonly onConflict: () => void
  readonly onApply: (version: number) => void
  readonly onBack: () => void
}

const Gaps = ({ base: { document }, newVendor }: Pick<Props, "base" | "newVendor">) => {
  const { t } = useTranslation("wizard")
  const { apiKey, check, models } = newVendor
  const unpriced = unpricedModels(document, newVendor).map(({ id }) => id)
  const gaps = [
    ...(apiKey === "" ? [t("gaps.key")] : []),
    ...(check?.credential_accepted === true ? [] : [t("gaps.test")]),
    ...(models.length === 0 ? [t("gaps.models")] : [t("gaps.cost")]),
    ...(unpriced.length === 0 ? [] : [t("gaps.prices", { models: unpriced.join(", ") })])
  ]
  return (
    <Alert color="orange" title={t("missing")}>
      <List size="sm">
        {gaps.map((gap) => (
          <List.Item key={gap}>{gap}</List.Item>
        ))}
      </List>
    </Alert>
  )
}

export const ReviewStep = (props: Props) => {
  const { base, newVendor, isRefreshing, onConflict, onApply, onBack } = props
  const { t } = useTranslation("wizard")
  const { session } = useSession()
  const [revision] = useState(nextRevision)
  const document = withVendor(base.document, newVendor)
  const apply = useApiMutation(
    () => () => applyCatalog(session, document, base.version),
    [["catalog"], ["channels"]]
  )
  const { id, name, models } = newVendor
  return (
    <Stack>
      <Title order={3} size="h5">
        {t("added")}
      </Title>
      <List size="sm">
        <List.Item>{t("addChannel", { id, name })}</List.Item>
        {models.map((model) => (
          <List.Item key={model.upstream}>
            {t(listedModel(base.document, model.id) === undefined ? "addModel" : "addMount", {
              id: model.id
            })}
          </List.Item>
        ))}
      </List>
      <Gaps base={base} newVendor={newVendor} />
      <Verdict document={document} revision={revision} />
      {apply.isError && newerVersionsOf(apply.error) === undefined ? (
        <FailureNote error={apply.error} />
      ) : null}
      <StepButtons onBack={onBack}>
        <Button
          loading={apply.isPending || isRefreshing}
          onClick={() =>
            apply.mutate(undefined, {
              onSuccess: ({ version }) => onApply(version),
              onError: (error) => {
                if (newerVersionsOf(error) !== undefined) onConflict()
              }
            })
          }
        >
          {t("apply")}
        </Button>
      </StepButtons>
    </Stack>
  )
}

export const Applied = ({
  version,
  newVendor: { id, models }
}: {
  readonly version: number
  readonly newVendor: NewVendor
}) => {
  const { t } = useTranslation("wizard")
  const { session } = useSession()
  const [model] = models
  return (
    <Stack role="status">
      <Text>{t("done", { version })}</Text>
      <Group>
        {model === undefined || session.apiKey === null ? null : (
          <Button
            component={Link}
            href={`~/console/playground?${new URLSearchParams({ model: model.id }).toString()}`}
          >
            {t("tryIt")}
          </Button>
        )}
        <Button variant="default" component={Link} href={`/${encodeURIComponent(id)}`}>
          {t("open")}
        </Button>
      </Group>
    </Stack>
  )
}

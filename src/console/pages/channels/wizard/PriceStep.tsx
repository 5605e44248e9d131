/** The fourth step: the prices of the new models. */
import { Button, Card, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { CatalogText } from "../../catalog/draft/catalogEntries.ts"
import { PriceFields } from "../../catalog/forms/PriceFields.tsx"
import { listedModel, type NewVendor } from "./newVendor.ts"
import { StepButtons } from "./StepButtons.tsx"

interface Props {
  readonly document: CatalogText
  readonly newVendor: NewVendor
  readonly onChange: (newVendor: NewVendor) => void
  readonly onNext: () => void
  readonly onBack: () => void
}

export const PriceStep = ({ document, newVendor, onChange, onNext, onBack }: Props) => {
  const { t } = useTranslation("wizard")
  const { t: catalog } = useTranslation("catalog")
  const { models } = newVendor
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onNext()
      }}
    >
      <Stack>
        {models.length === 0 ? <Text size="sm">{t("noModels")}</Text> : null}
        {models.map((model) => (
          <Card key={model.upstream} withBorder style={{ overflowX: "auto" }}>
            {listedModel(document, model.id) === undefined ? (
              <PriceFields
                label={t("pricesOf", { model: model.id })}
                modality={model.modality}
                value={model.prices}
                onChange={(prices) =>
                  onChange({
                    ...newVendor,
                    models: models.map((other) => (other === model ? { ...model, prices } : other))
                  })
                }
                // The gateway's faults of the whole catalog are shown in the review.
                faultAt={() => undefined}
                none={catalog("prices.none")}
              />
            ) : (
              <>
                <Text fw={600} size="sm">
                  {t("pricesOf", { model: model.id })}
                </Text>
                <Text size="sm">{t("listed")}</Text>
              </>
            )}
          </Card>
        ))}
        <StepButtons onBack={onBack}>
          <Button type="submit">{t("next")}</Button>
        </StepButtons>
      </Stack>
    </form>
  )
}

/** The first step: a choice of vendors by name. */
import { Anchor, SimpleGrid, Stack, Text, UnstyledButton } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import { type Vendor, vendors } from "./vendors.ts"

export const VendorStep = ({ onChoose }: { readonly onChoose: (vendor: Vendor) => void }) => {
  const { t } = useTranslation("wizard")
  return (
    <Stack>
      <SimpleGrid
        component="ul"
        cols={{ base: 1, sm: 2 }}
        m={0}
        p={0}
        style={{ listStyle: "none" }}
      >
        {vendors.map((vendor) => (
          <li key={vendor.protocol}>
            <UnstyledButton
              p="sm"
              w="100%"
              h="100%"
              bd="1px solid var(--mantine-color-default-border)"
              bdrs="sm"
              onClick={() => onChoose(vendor)}
            >
              <Text fw={600}>{vendor.name}</Text>
              <Text size="sm">{t(`vendors.${vendor.protocol}`)}</Text>
              <Text size="xs" c="dimmed" className="id">
                {vendor.protocol}
              </Text>
            </UnstyledButton>
          </li>
        ))}
      </SimpleGrid>
      <Anchor component={Link} href="~/console/catalog" size="sm">
        {t("other")}
      </Anchor>
    </Stack>
  )
}

export const differences = []

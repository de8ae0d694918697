/** Datasets on Hugging Face and GitLab. */

export {
  deleteFromRegistry,
  downloadFromRegistry,
  isInRegistry,
  type RegistryAccess,
  trackingAddress,
  uploadToRegistry,
} from "./gitlab.ts";
export { downloadHubSplit, downloadHubSplits } from "./hub-split-download.ts";
export { downloadHubFile, type HubUploadEvent, type HubUploadResult, uploadToHub } from "./huggingface.ts";
export {
  checkArtifactPath,
  checkRepositoryId,
  collectionId,
  domainOfConfig,
  repositoryName,
  resourcesServerOfPath,
} from "./remote-names.ts";

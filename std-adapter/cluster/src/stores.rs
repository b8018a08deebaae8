//! Object stores by their URLs, in every role: the client lists files, and executors read them.

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::ObjectStore;
use std::sync::Arc;
use url::Url;

/// Opens a store when its URL is first used: `s3://`, `gs://`, `az://`, `http://`, `https://`. It is
/// configured by the environment variables of the store's own tools: `AWS_ACCESS_KEY_ID`, `AWS_REGION`,
/// `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on.
#[derive(Debug, Default)]
struct Stores(DefaultObjectStoreRegistry);

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.0.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.0.get_store(url) {
            return Ok(store);
        }
        // Without the path of the files, which the engine's URL contains.
        let root = Url::parse(&url[..url::Position::BeforePath])
            .map_err(|error| DataFusionError::External(Box::new(error)))?;
        let variables = std::env::vars().map(|(name, value)| (name.to_ascii_lowercase(), value));
        // The client refuses http:// otherwise.
        let plain = (root.scheme() == "http").then(|| ("allow_http".to_owned(), "true".to_owned()));
        let (store, _) = object_store::parse_url_opts(&root, variables.chain(plain))?;
        let store: Arc<dyn ObjectStore> = Arc::from(store);
        self.0.register_store(&root, store.clone());
        Ok(store)
    }
}

/// Build an engine's runtime with these stores, which spills to the folder if there is one.
///
/// # Errors
/// The engine's.
pub(crate) fn runtime(folder: Option<&str>) -> Result<Arc<RuntimeEnv>> {
    let builder = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
    let builder = match folder {
        Some(folder) => builder.with_temp_file_path(folder),
        None => builder,
    };
    builder.build_arc()
}

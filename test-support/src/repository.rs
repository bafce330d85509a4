//! How a repository of an RDF4J Server is described.

/// A store in memory.
pub const MEMORY: &str = "[ sail:sailType \"openrdf:MemoryStore\" ]";

/// Returns the Turtle that makes a repository over a store, which is in Turtle too.
pub fn repository(id: &str, sail: &str) -> String {
    format!(
        "@prefix rep: <http://www.openrdf.org/config/repository#> .
         @prefix sr: <http://www.openrdf.org/config/repository/sail#> .
         @prefix sail: <http://www.openrdf.org/config/sail#> .
         [] a rep:Repository ; rep:repositoryID \"{id}\" ; rep:repositoryImpl [
           rep:repositoryType \"openrdf:SailRepository\" ; sr:sailImpl {sail} ] ."
    )
}

//! Reads communities of entities with their members and reports.

use std::collections::HashMap;

use pikerag_knowledge::{Community, CommunityId, EntityId, Report};
use tokio_postgres::Row;

use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// All communities, or those that hold one of these entities: by level and identifier.
pub(super) async fn communities(tx: &Tx, of: Option<&[EntityId]>) -> Sql<Vec<Community>> {
    let columns = "SELECT c.id, c.level, c.parent FROM communities c";
    let found = match of {
        None => tx.all(columns, &[]).await?,
        Some(entities) => {
            let entities = rows::signed(entities.iter().map(|id| id.0));
            let sql = format!(
                "{columns} WHERE c.id = ANY(ARRAY(SELECT m.community FROM members m WHERE m.entity = ANY($1)))"
            );
            tx.all(&sql, &[&entities]).await?
        }
    };
    let ids = rows::signed(rows::ids(&found)?);
    let mut members = members(tx, &ids).await?;
    let mut reports = reports(tx, &ids).await?;
    let mut communities = Vec::with_capacity(found.len());
    for row in &found {
        let id = rows::id(row, 0)?;
        let parent: Option<i64> = row.try_get(2)?;
        communities.push(Community {
            id: CommunityId(id),
            level: rows::small(row, 1)?,
            parent: parent.map(|parent| CommunityId(parent.cast_unsigned())),
            members: members.remove(&id).unwrap_or_default(),
            report: reports.remove(&id),
        });
    }
    // The database keeps identifiers as signed numbers and would sort them otherwise.
    communities.sort_unstable_by_key(|community| (community.level, community.id));
    Ok(communities)
}

/// The members of visible communities, by identifier: they are visible, too.
async fn members(tx: &Tx, communities: &[i64]) -> Sql<HashMap<u64, Vec<EntityId>>> {
    let sql = "SELECT community, entity FROM pikerag_base.members WHERE community = ANY($1)
         ORDER BY community, entity";
    let mut members: HashMap<u64, Vec<EntityId>> = HashMap::new();
    for row in tx.all(sql, &[&communities]).await? {
        members.entry(rows::id(&row, 0)?).or_default().push(EntityId(rows::id(&row, 1)?));
    }
    Ok(members)
}

/// The reports on visible communities: they are visible, too.
async fn reports(tx: &Tx, communities: &[i64]) -> Sql<HashMap<u64, Report>> {
    let sql = "SELECT community, title, summary, rating, findings, model FROM pikerag_base.reports
         WHERE community = ANY($1)";
    let found = tx.all(sql, &[&communities]).await?;
    found.iter().map(|row| Ok((rows::id(row, 0)?, report(row)?))).collect()
}

fn report(row: &Row) -> Sql<Report> {
    Ok(Report {
        title: rows::text(row, 1)?,
        summary: rows::text(row, 2)?,
        rating: row.try_get(3)?,
        findings: rows::json(row, 4)?,
        model: rows::optional_text(row, 5)?,
    })
}

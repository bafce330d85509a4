//! Writes what a federation gateway asks for: the schema as text, and referenced objects.

use graphql_service::writer::{AnswerWriter, PathStep, WriteResult};

use crate::sdl::{ReferencePart, References, RootEntities, RootService, ServicePart};

/// Writes the value of the root field `_service`, whose path is entered.
pub(crate) fn write_service<'a>(
    service: &'a RootService,
    sdl: Option<&'a str>,
    writer: &mut AnswerWriter<'a>,
) -> WriteResult {
    writer.out.push(b'{');
    for (position, field) in service.fields.fields.iter().enumerate() {
        writer.key(position, &field.key);
        match (field.what, sdl) {
            (ServicePart::TypeName, _) => writer.string(&service.fields.type_name),
            (ServicePart::Sdl, Some(sdl)) => writer.string(sdl),
            (ServicePart::Sdl, None) => writer.null(),
        }
    }
    writer.out.push(b'}');
    writer.check_size()
}

/// Writes the value of the root field `_entities`, whose path is entered.
///
/// Nothing is looked up: a reference is what it says, and whether there is such an object is known to
/// the service that owns it.
pub(crate) fn write_entities<'a>(
    entities: &'a RootEntities,
    writer: &mut AnswerWriter<'a>,
) -> WriteResult {
    writer.out.push(b'[');
    for (position, object) in entities.objects.iter().enumerate() {
        if position > 0 {
            writer.out.push(b',');
        }
        writer.enter(PathStep::Index(position));
        match object {
            Some((ty, id)) => {
                let id = |writer: &mut AnswerWriter<'a>| writer.string(id);
                write_reference(&entities.shown, *ty, id, writer)?;
            }
            None => writer.null(),
        }
        writer.leave();
    }
    writer.out.push(b']');
    Ok(())
}

/// Writes a referenced object of a type.
pub(super) fn write_reference<'a>(
    shown: &'a References,
    ty: usize,
    id: impl Fn(&mut AnswerWriter<'a>),
    writer: &mut AnswerWriter<'a>,
) -> WriteResult {
    writer.out.push(b'{');
    let fields = shown.fields.iter().filter(|field| field.of.contains(&ty));
    for (position, field) in fields.enumerate() {
        writer.key(position, &field.key);
        match field.what {
            ReferencePart::TypeName => writer.string(&shown.types.types[ty].name),
            ReferencePart::Id => id(writer),
        }
    }
    writer.out.push(b'}');
    writer.check_size()
}

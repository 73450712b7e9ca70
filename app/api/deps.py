"""What handlers ask for, named once."""

from typing import Annotated

from fastapi import Depends, Request

from app.api.guard import CallerDep
from app.services.assembly import Services
from app.services.catalog import Catalog
from app.services.curation import Curator
from app.store.database import Database


def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(_services)]


def _catalog(services: ServicesDep) -> Catalog:
    return services.catalog


def _database(services: ServicesDep) -> Database:
    return services.database


CatalogDep = Annotated[Catalog, Depends(_catalog)]
DatabaseDep = Annotated[Database, Depends(_database)]


def _curator(services: ServicesDep, caller: CallerDep) -> Curator:
    return Curator(services.database, services.embedder, actor=caller.name)


CuratorDep = Annotated[Curator, Depends(_curator)]

"""Answers questions about molecules: reads one JSON request per line and answers each with one line. Needs RDKit; functional groups need exmol."""

import ast
import json
import sys

from rdkit import Chem, DataStructs, RDLogger
from rdkit.Chem import rdFingerprintGenerator
from rdkit.Chem.rdMolDescriptors import CalcMolFormula

RDLogger.DisableLog("rdApp.*")
replies = sys.stdout
# Libraries print to the standard output, which belongs to the replies.
sys.stdout = sys.stderr

_morgan = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)


def ring_systems(molecule):
    """The SMILES of rings that share atoms, with the double bonds that leave them."""
    systems = []
    for ring in molecule.GetRingInfo().AtomRings():
        joined = set(ring)
        apart = []
        for system in systems:
            if joined & system:
                joined |= system
            else:
                apart.append(system)
        systems = [*apart, joined]
    kekulized = Chem.Mol(molecule)
    Chem.Kekulize(kekulized, clearAromaticFlags=True)
    return [system_smiles(kekulized, system) for system in systems]


def system_smiles(molecule, system):
    atoms = set(system)
    for index in system:
        for bond in molecule.GetAtomWithIdx(index).GetBonds():
            if bond.GetBondType() == Chem.BondType.DOUBLE:
                atoms.add(bond.GetOtherAtomIdx(index))
    text = Chem.MolFragmentToSmiles(molecule, sorted(atoms), kekuleSmiles=True, isomericSmiles=False)
    part = Chem.MolFromSmiles(text)
    return Chem.MolToSmiles(part, kekuleSmiles=True) if part is None else kekule(part)


def kekule(molecule):
    molecule = Chem.Mol(molecule)
    Chem.Kekulize(molecule, clearAromaticFlags=True)
    return Chem.MolToSmiles(molecule, kekuleSmiles=True)


def describe(smiles):
    """What the rules need of a molecule; None if the text is not a molecule."""
    molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return None
    return {
        "canonical": Chem.MolToSmiles(molecule),
        "formula": CalcMolFormula(molecule),
        "atoms": molecule.GetNumAtoms(),
        "heavy": molecule.GetNumHeavyAtoms(),
    }


def details(smiles):
    """The rings and fingerprint bits of the largest fragment, and the sizes of all."""
    fragments = Chem.GetMolFrags(Chem.MolFromSmiles(smiles), asMols=True)
    largest = max(fragments, key=lambda fragment: fragment.GetNumHeavyAtoms())
    sizes = sorted((fragment.GetNumHeavyAtoms() for fragment in fragments), reverse=True)
    bits = rdFingerprintGenerator.GetMorganGenerator(radius=2).GetSparseCountFingerprint(largest)
    return {"sizes": sizes, "rings": ring_systems(largest), "bits": [str(bit) for bit in bits.GetNonzeroElements()]}


def similarity(one, other):
    prints = [_morgan.GetFingerprint(Chem.MolFromSmiles(smiles)) for smiles in (one, other)]
    return DataStructs.TanimotoSimilarity(*prints)


def contains(smiles, pattern):
    part = Chem.MolFromSmiles(pattern) or Chem.MolFromSmarts(pattern)
    return part is not None and Chem.MolFromSmiles(smiles).HasSubstructMatch(part)


def functional_groups(smiles):
    import exmol

    return sorted(group.lower() for group in exmol.get_functional_groups(Chem.MolFromSmiles(smiles), return_all=True))


QUESTIONS = {
    "describe": describe,
    "details": details,
    "similarity": similarity,
    "contains": contains,
    "functional_groups": functional_groups,
    "literal": ast.literal_eval,
}


for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = {"value": QUESTIONS[request["question"]](*request["about"])}
    except ImportError as error:
        reply = {"missing": str(error)}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), file=replies, flush=True)

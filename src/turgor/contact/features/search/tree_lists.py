"""Candidates of pairs of bodies with much between them: patches of one body walk the tree over those of the other."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import body_pairs, compare, patches
from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search.candidates import Candidates
from turgor.contact.features.search.patches import Patches
from turgor.kernel.blocks import block_max, block_min
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model

__all__ = ["TreeLists", "kernels"]


class TreeLists:
    """The boxes of the trees of those bodies that are searched."""

    def __init__(self, model: Model, patches: Patches, candidates: Candidates, launch: FeatureLauncher) -> None:
        n, zeros = model.numbers, launch.zeros
        self.kernels, self.patches, self.candidates = kernels(n), patches, candidates
        self.node_low, self.node_high = zeros(patches.nodes, n.vec), zeros(patches.nodes, n.vec)  # m
        self.launch = launch.extended(self)

    def collect(self, pairs: int) -> None:
        """Candidates of the pairs (of at most so many) that are marked `by_tree`."""
        self.launch.split(self.kernels.bound_patches, self.patches.count)
        self.launch.tiles(self.kernels.bound_nodes, self.patches.nodes)
        self.candidates.collect(self.launch, self.kernels.collect_by_tree, pairs)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """bound_patches, bound_nodes, collect_by_tree."""
    real, vec = n.real, n.vec
    shape = patches.kernels(n)
    Mesh, bound_stars, first_node, last_node = shape.Mesh, shape.bound_stars, shape.first_node, shape.last_node
    CandidateList = listed.kernels(n).CandidateList
    of_pairs = body_pairs.kernels(n)
    PairList, is_listed, pair_of = of_pairs.PairList, of_pairs.is_listed, of_pairs.pair_of
    box_gap, compare_patches = compare.kernels(n).box_gap, compare.kernels(n).compare_patches

    @n.kernel(__name__)
    def bound_patches(
        mesh: Mesh,
        in_tree: wp.array(dtype=int),
        node_low: wp.array(dtype=vec),
        node_high: wp.array(dtype=vec),
        start_index: int,
    ):
        """Boxes of the patches of bodies that are searched."""
        k = start_index + wp.tid()
        if in_tree[mesh.patch_body[k]] != 0:
            low, high = bound_stars(mesh, k)
            node_low[mesh.patch_node[k]] = low
            node_high[mesh.patch_node[k]] = high

    @n.kernel(__name__)
    def bound_nodes(
        mesh: Mesh, in_tree: wp.array(dtype=int), node_low: wp.array(dtype=vec), node_high: wp.array(dtype=vec)
    ):
        """Boxes of the other nodes, one per block."""
        node, lane = wp.tid()
        mine = mesh.node_patches[node]
        if mine[1] - mine[0] > 1 and in_tree[mesh.patch_body[at(mine[0])]] != 0:
            leaf = at(mesh.patch_node[at(mine[0])])
            low = node_low[leaf]
            high = node_high[leaf]
            for k in range(mine[0] + lane, mine[1], wp.block_dim()):
                leaf = at(mesh.patch_node[at(k)])
                low = wp.min(low, node_low[leaf])
                high = wp.max(high, node_high[leaf])
            for axis in range(wp.static(n.dim)):
                least = block_min(low[axis])
                most = block_max(high[axis])
                low[axis] = least
                high[axis] = most
            if lane == 0:
                node_low[node] = low
                node_high[node] = high

    @n.kernel(__name__)
    def collect_by_tree(
        mesh: Mesh,
        rest: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        by_tree: wp.array(dtype=int),
        in_tree: wp.array(dtype=int),
        node_low: wp.array(dtype=vec),
        node_high: wp.array(dtype=vec),
        candidate_list: CandidateList,
        part: int,
        parts: int,
    ):
        """Patches of the first body of a pair against the tree of the second."""
        k_pair, lane = wp.tid()
        pair = pair_of(pair_list, k_pair, part, parts)
        if is_listed(pair_list, pair) and by_tree[pair] != 0:
            a = at(pair_list.pairs[pair][0])
            b = at(pair_list.pairs[pair][1])
            skin = thickness[a] + thickness[b]
            margin = pair_list.pair_margin[pair]
            within = (margin + skin) * (margin + skin)
            last = last_node(mesh, b)
            for k in range(mesh.patch_start[a] + lane, mesh.patch_start[a + 1], wp.block_dim()):
                mine = at(mesh.patch_node[at(k)])
                low = node_low[mine]
                high = node_high[mine]
                node = first_node(mesh, b)
                while node < last:
                    below = mesh.node_patches[at(node)]
                    if box_gap(low, high, node_low[at(node)], node_high[at(node)]) <= within:
                        if below[1] - below[0] == 1:
                            compare_patches(
                                mesh, rest, candidate_list, pair, k, below[0], margin, margin, skin, False, 0, 1
                            )
                        node += 1
                    else:
                        node += 2 * (below[1] - below[0]) - 1

    return SimpleNamespace(bound_patches=bound_patches, bound_nodes=bound_nodes, collect_by_tree=collect_by_tree)

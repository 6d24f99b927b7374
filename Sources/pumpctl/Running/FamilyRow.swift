import ArgumentParser
import DeviceKit

/// The facts about a family that only pumpctl needs, in addition to ``Family``: its commands and its simulator. Each
/// family defines its row in its own folder. Lists of families, and the lists of commands in the help, are derived from
/// the rows.
struct FamilyRow: Sendable {
    let family: Family
    /// The name of the family's command group, as `led` in `pumpctl led get`; nil if its commands are at the top level,
    /// as `pumpctl on`.
    let noun: String?
    /// The family's top-level commands: one group with the noun's name, or all commands.
    let commands: [any ParsableCommand.Type]
    /// The command of the family's simulator.
    let simulator: any Simulation.Type

    /// The rows in the order of the help. Commands for any device assume the first family if nothing names one.
    static let all: [FamilyRow] = [.pump, .storm, .led, .peer, .rescue, .raw]

    /// Returns the row of the family with a name; nil if there is none.
    static func named(_ name: String) -> FamilyRow? { all.first { $0.family.name == name } }
}

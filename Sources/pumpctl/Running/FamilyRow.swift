import ArgumentParser
import DeviceKit

/// What pumpctl knows of a family beside what ``Family`` says. Each family writes its own, in its folder; every list of
/// families, and every help text that names them, follows from these.
struct FamilyRow: Sendable {
    let family: Family
    /// What its commands stand under; nil where they stand at the top.
    let noun: String?
    /// Its commands at the top: one group under the noun, or all of them.
    let commands: [any ParsableCommand.Type]
    /// Its simulated device.
    let simulator: any Simulation.Type

    /// The rows, in the order in which help lists them. The first is what a command for any device is for where nothing
    /// tells.
    static let all: [FamilyRow] = [.pump, .storm, .led, .peer, .rescue, .raw]

    /// The row of the family of that name; nil where there is none.
    static func named(_ name: String) -> FamilyRow? { all.first { $0.family.name == name } }
}

import ArgumentParser

struct SimCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sim",
        abstract: "Offer a simulated device to other programs.",
        discussion: ServingOptions.discussion,
        subcommands: FamilyRow.all.map(\.simulator))
}
